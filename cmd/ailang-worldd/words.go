package main

import (
	"errors"
	"strings"

	"world/fault"
)

// startupText is an error in an operator's words: details and causes, without the
// names of operations, and nothing twice. What is not there is said to be so.
func startupText(err error) string {
	text := words(err)
	if missing := fault.NotFound.String(); fault.Is(err, fault.NotFound) && text != missing {
		return missing + ": " + text
	}
	return text
}

// words is startupText without the kind.
func words(err error) string {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var parts []string
		for _, one := range several.Unwrap() {
			parts = append(parts, words(one))
		}
		return strings.Join(parts, "; ")
	}
	var e *fault.Error
	if !errors.As(err, &e) {
		return strings.TrimSpace(err.Error())
	}
	text := e.Detail
	if text == "" {
		text = e.Kind.String()
	}
	if e.Cause != nil {
		if cause := words(e.Cause); !strings.Contains(text, cause) {
			text += ": " + cause
		}
	}
	return text
}
