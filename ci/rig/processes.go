package rig

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Process is one process that was seen. A reused number is another process.
type Process struct {
	Pid     int
	Parent  int
	Started string // ticks since boot
	User    uint32
	Name    string // of its program, at most 15 bytes
}

// Processes lists every process that this one may see, dead ones that nobody has
// waited for left out.
func Processes() ([]Process, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var all []Process
	for _, path := range stats {
		if p, ok := readProcess(path); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

func readProcess(path string) (p Process, ok bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return p, false // it ended meanwhile
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return p, false
	}
	// The name in parentheses may hold anything; fields count from after it.
	text := string(raw)
	open, shut := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	after := strings.Fields(text[shut+1:])
	p = Process{Started: after[19], Name: text[open+1 : shut], User: info.Sys().(*syscall.Stat_t).Uid}
	if p.Pid, err = strconv.Atoi(strings.TrimSpace(text[:open])); err != nil {
		return p, false
	}
	if p.Parent, err = strconv.Atoi(after[1]); err != nil {
		return p, false
	}
	return p, after[0] != "Z"
}

// Descendants lists the processes below a process.
func Descendants(pid int) ([]Process, error) {
	all, err := Processes()
	if err != nil {
		return nil, err
	}
	children := map[int][]Process{}
	for _, p := range all {
		children[p.Parent] = append(children[p.Parent], p)
	}
	var found []Process
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, child := range children[queue[0]] {
			found = append(found, child)
			queue = append(queue, child.Pid)
		}
	}
	return found, nil
}

// Alive keeps those of the processes that still run.
func Alive(processes []Process) []Process {
	var running []Process
	for _, p := range processes {
		now, ok := readProcess(filepath.Join("/proc", strconv.Itoa(p.Pid), "stat"))
		if ok && now.Started == p.Started {
			running = append(running, p)
		}
	}
	return running
}
