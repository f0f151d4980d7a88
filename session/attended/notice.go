package attended

import (
	"context"

	"world/session"
	"world/store"
	"world/store/record"
)

// Notice writes into the log what an operator did to the store as a whole. The
// caller has asked whatever had to be asked.
func (d Desk) Notice(ctx context.Context, act record.Act, note string) (store.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	now, err := session.Now(ctx, d.Office.Store, d.Wall())
	if err != nil {
		return store.Entry{}, err
	}
	object := store.NewObject(record.Notice, "host:"+string(act),
		record.NoticeRecord{Act: act, Note: note, By: operator(), At: now}.Bytes())
	draft, err := d.Office.Draft(ctx, string(act), object.Ref())
	if err != nil {
		return store.Entry{}, err
	}
	return d.Office.Store.Act(ctx, store.Act{Objects: []store.Object{object}, Draft: draft, At: now})
}
