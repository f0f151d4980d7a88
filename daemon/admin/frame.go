package admin

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"world/fault"
)

// maxFrame bounds one message, in bytes: MaxGrants grants of the longest kind fit.
const maxFrame = 256 << 10

// send writes one frame: its length in four bytes, then its bytes. A file rides
// on the length.
func send(conn *net.UnixConn, body []byte, file *os.File) error {
	if len(body) > maxFrame {
		return fault.New("admin: send", fault.Limit, "a message of %d bytes", len(body))
	}
	var rights []byte
	if file != nil {
		rights = unix.UnixRights(int(file.Fd()))
	}
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(body)))
	if _, _, err := conn.WriteMsgUnix(length[:], rights, nil); err != nil {
		return err
	}
	_, err := conn.Write(body)
	return err
}

// receive reads one frame and at most one file. Every other descriptor that came
// along is closed, and the frame refused.
func receive(conn *net.UnixConn) (body []byte, file *os.File, err error) {
	const op = "admin: receive"
	var length [4]byte
	rights := make([]byte, unix.CmsgSpace(2*4)) // room for one descriptor too many; the kernel closes the rest
	n, rightsLen, _, _, err := conn.ReadMsgUnix(length[:], rights)
	if err != nil {
		return nil, nil, err
	}
	files, err := descriptors(rights[:rightsLen])
	defer func() {
		if err != nil {
			for _, f := range files {
				f.Close()
			}
		}
	}()
	if err == nil && len(files) > 1 {
		err = invalidFrame("more than one descriptor")
	}
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, io.EOF
	}
	if _, err := io.ReadFull(conn, length[n:]); err != nil {
		return nil, nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > maxFrame {
		return nil, nil, fault.New(op, fault.Invalid, "a message of more than %d bytes", maxFrame)
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, nil, err
	}
	if len(files) == 1 {
		file = files[0]
	}
	return body, file, nil
}

// descriptors takes the descriptors out of control messages, each as a file that
// honours deadlines. The caller closes them, beside an error too.
func descriptors(rights []byte) (files []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		fds, unread := unix.ParseUnixRights(&m)
		err = errors.Join(err, unread)
		for _, fd := range fds {
			err = errors.Join(err, unix.SetNonblock(fd, true))
			files = append(files, os.NewFile(uintptr(fd), "terminal"))
		}
	}
	return files, err
}

func invalidFrame(what string) error {
	return fault.New("admin: receive", fault.Invalid, "%s", what)
}
