package confine_test

import (
	"syscall"
	"testing"
	"time"

	"world/confine"
	"world/confine/confinetest"
)

// BenchmarkRun runs a verb that reads its input and ends: in a fresh process, and in
// one that waited.
func BenchmarkRun(b *testing.B) {
	jail, err := confine.New(confine.Options{Stage: confinetest.Image(b, attacks), Workers: 8})
	if err != nil {
		b.Fatal(err)
	}
	defer jail.Close()
	s := site{t: b, jail: jail, user: confine.UserOf("benchmark")}
	for _, warm := range []bool{false, true} {
		b.Run(map[bool]string{false: "fresh", true: "warm"}[warm], func(b *testing.B) {
			var before, after syscall.Rusage
			syscall.Getrusage(syscall.RUSAGE_CHILDREN, &before)
			for b.Loop() {
				spec := s.spec("echo")
				spec.Worktree, spec.Stdin, spec.Warm = "", []byte("hello"), warm
				if got := s.run(spec); string(got.Stdout) != "hello" {
					b.Fatalf("%+v", got)
				}
			}
			syscall.Getrusage(syscall.RUSAGE_CHILDREN, &after)
			cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N)/1000, "cpu-ms/op")
		})
	}
}
