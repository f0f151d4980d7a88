package record_test

import (
	"testing"

	"world/store/record"
)

func TestNotice(t *testing.T) {
	for _, act := range []record.Act{record.Unseal, record.AcknowledgeRollback} {
		n := record.NoticeRecord{Act: act, Note: "what was seen", By: "operator", At: 7}
		if got, err := record.DecodeNotice(n.Bytes()); err != nil || got != n {
			t.Errorf("%s: %+v, %v", act, got, err)
		}
	}
	for _, bad := range []record.NoticeRecord{{Act: "other"}, {}, {Act: record.Unseal, At: -1}} {
		if _, err := record.DecodeNotice(bad.Bytes()); err == nil {
			t.Errorf("%+v was read", bad)
		}
	}
	if _, err := record.DecodeNotice([]byte(`{"act":"unseal","note":"","by":"","at":1} `)); err == nil {
		t.Error("trailing space was read")
	}
}

// TestASessionNamesItsHomeOrNothing keeps the form of sessions without one.
func TestASessionNamesItsHomeOrNothing(t *testing.T) {
	s := record.SessionRecord{
		Credential: "0000000000000000000000000000000000000000000000000000000000000000", Episode: "ep",
		Grants: []record.SessionGrant{{Effect: "A", Scope: "b", Budget: 1}}, CreatedAt: 1, ExpiresAt: 2,
	}
	const plain = `{"credentialId":"0000000000000000000000000000000000000000000000000000000000000000","episode":"ep",` +
		`"grants":[{"effect":"A","scope":"b","budget":1}],"createdAt":1,"expiresAt":2}`
	if string(s.Bytes()) != plain {
		t.Errorf("%s", s.Bytes())
	}
	s.Home = "host-abc"
	if got, err := record.DecodeSession(s.Bytes()); err != nil || got.Home != "host-abc" {
		t.Errorf("%+v, %v", got, err)
	}
	s.Home = "not a name"
	for _, bad := range []string{string(s.Bytes()), plain[:len(plain)-1] + `,"home":""}`} {
		if _, err := record.DecodeSession([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
	if episode, ok := record.HomeOf(record.HomeName("ep")); !ok || episode != "ep" {
		t.Errorf("%s, %v", episode, ok)
	}
	if _, ok := record.HomeOf(record.RegistryName); ok {
		t.Error("the registry of transitions names a home")
	}
}
