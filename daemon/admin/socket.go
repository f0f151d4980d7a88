package admin

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"world/fault"
)

const (
	folderName = "admin"
	socketName = "admin.sock"
)

// folder is the 0700 folder of the socket, held open: addresses go through its
// descriptor, because the kernel takes only 107 bytes of path.
type folder struct{ file *os.File }

// openFolder opens the folder and refuses one that others could have made or may enter.
func openFolder(stateDir string) (*folder, error) {
	const op = "admin: open folder"
	path := filepath.Join(stateDir, folderName)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fault.Wrap(op, fault.Unavailable, err, "the state folder has no %s folder", folderName)
	}
	f := &folder{os.NewFile(uintptr(fd), path)}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Uid != uint32(os.Geteuid()) || st.Mode&0o7777 != 0o700 {
		f.close()
		return nil, fault.Wrap(op, fault.Denied, err, "the %s folder of the state folder must be yours alone, mode 0700", folderName)
	}
	return f, nil
}

func (f *folder) close() { f.file.Close() }

func (f *folder) address() *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/%s", f.file.Fd(), socketName)}
}

// Listener is the daemon's end of the socket.
type Listener struct {
	*net.UnixListener
	folder *folder
}

// Listen makes the socket below the state folder. The caller holds the store's
// lock, so a socket that nobody answers is a dead daemon's and is replaced;
// Conflict when somebody answers.
func Listen(stateDir string) (*Listener, error) {
	const op = "admin: listen"
	if err := os.Mkdir(filepath.Join(stateDir, folderName), 0o700); err != nil && !os.IsExist(err) {
		return nil, fault.Wrap(op, fault.Unavailable, err, "the admin folder cannot be made")
	}
	f, err := openFolder(stateDir)
	if err != nil {
		return nil, err
	}
	if conn, err := net.DialUnix("unix", nil, f.address()); err == nil {
		conn.Close()
		f.close()
		return nil, fault.New(op, fault.Conflict, "another daemon answers on the admin socket of this state folder")
	}
	if err := os.Remove(f.address().Name); err != nil && !os.IsNotExist(err) {
		f.close()
		return nil, fault.Wrap(op, fault.Unavailable, err, "the old admin socket cannot be removed")
	}
	l, err := net.ListenUnix("unix", f.address())
	if err != nil {
		f.close()
		return nil, fault.Wrap(op, fault.Unavailable, err, "the admin socket cannot be made")
	}
	return &Listener{l, f}, nil
}

// Close removes the socket.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	l.folder.close()
	return err
}

// dial connects to the daemon. Unavailable when none answers.
func dial(stateDir string) (*net.UnixConn, error) {
	f, err := openFolder(stateDir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	conn, err := net.DialUnix("unix", nil, f.address())
	if err != nil {
		return nil, fault.Wrap("admin: dial", fault.Unavailable, err, "no daemon answers on the admin socket of this state folder")
	}
	return conn, nil
}
