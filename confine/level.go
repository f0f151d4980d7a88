package confine

import "world/fault"

// Level is how high the fence around a program is. Greater is stronger.
type Level int

const (
	Process    Level = iota + 1 // scrubbed environment, limits, deadline
	Landlock                    // and Landlock rules with a system call filter
	Namespaces                  // and namespaces of its own by bubblewrap
)

var levels = map[Level]string{Process: "process", Landlock: "landlock", Namespaces: "namespaces"}

// String returns the level's fixed name, as logs and flags show it.
func (l Level) String() string {
	name, ok := levels[l]
	if !ok {
		return "none"
	}
	return name
}

// ParseLevel reads a level's name.
func ParseLevel(s string) (Level, error) {
	for l, name := range levels {
		if name == s {
			return l, nil
		}
	}
	return 0, fault.New("confine: parse level", fault.Invalid, "a confinement level is namespaces, landlock or process")
}
