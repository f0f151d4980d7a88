package record

import (
	"world/canon"
	"world/fault"
)

// Act is what an operator did to a store as a whole. Append only.
type Act string

const (
	Unseal              Act = "unseal"               // took a held or sealed store back into use
	AcknowledgeRollback Act = "acknowledge-rollback" // accepted a store that lacks entries seen before
)

// NoticeRecord is the evidence that an operator did so. It changes nothing by itself.
type NoticeRecord struct {
	Act  Act    `json:"act"`
	Note string `json:"note"` // what the program saw
	By   string `json:"by"`
	At   int64  `json:"at"` // logical unix seconds
}

// Bytes is the record's byte form.
func (r NoticeRecord) Bytes() []byte { return canon.Encode(r) }

// DecodeNotice reads a notice.
func DecodeNotice(raw []byte) (NoticeRecord, error) {
	r, err := canon.DecodeExact[NoticeRecord](raw, canon.Limits{Bytes: 64 << 10})
	if err == nil && (r.Act != Unseal && r.Act != AcknowledgeRollback || r.At < 0) {
		err = fault.New("record: notice", fault.Invalid, "act or time out of range")
	}
	return r, err
}
