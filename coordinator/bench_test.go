package coordinator_test

import (
	"strconv"
	"testing"

	"world/coordinator/coordtest"
)

// BenchmarkInvoke measures one call from snapshot to reply on SQLite, with the
// evaluator in this process and a handler that does nothing.
func BenchmarkInvoke(b *testing.B) {
	for name, args := range map[string]string{"allowed": `{}`, "denied": `{"effect":"Workspace.Read"}`, "refused": `{"plan":` + zeroEffects + `}`} {
		b.Run(name, func(b *testing.B) {
			hand := &coordtest.Hand{}
			w := coordtest.New(b, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, nil)
			live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1<<40))
			for i := 0; b.Loop(); i++ {
				w.Must(live, coordtest.Act, strconv.Itoa(i), args)
			}
		})
	}
}
