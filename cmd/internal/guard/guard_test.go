package guard_test

import (
	"strings"
	"testing"

	"world/cmd/internal/guard"
	"world/fault"
)

func TestCheckRefusesANonEmptyCredentialWithoutShowingIt(t *testing.T) {
	for _, value := range []string{"very-secret", " ", "0"} {
		t.Setenv(guard.Variable, value)
		err := guard.Check()
		if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "AILANG_REGISTRY_API_KEY") {
			t.Errorf("%q: got %v", value, err)
		}
		if err != nil && strings.Contains(err.Error(), "very-secret") {
			t.Errorf("the value is shown: %v", err)
		}
	}
	t.Setenv(guard.Variable, "")
	if err := guard.Check(); err != nil {
		t.Errorf("an empty one is none: got %v", err)
	}
}
