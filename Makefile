# Three commands for people: make demo, make run, make test.
GO      ?= go
BIN     := bin
# Where make run keeps its lasting world, and where its worktrees lie beside it.
# Root's home lets nobody through, and confined programs run under other users.
ifeq ($(shell id -u),0)
BASE    ?= /var/lib/ailang
else
BASE    ?= $(HOME)/.ailang
endif
WORLD     ?= $(BASE)/world
WORKTREES ?= $(BASE)/world-ws

.PHONY: demo run test build prove mutants guards lint bench drift-nightly crash scale soak

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/ ./cmd/...

demo:
	ci/setup run
	@$(MAKE) --no-print-directory build
	$(GO) run ./ci/demo $(BIN)

run:
	ci/setup run
	@$(MAKE) --no-print-directory build
	install -d -m 755 $(BASE) && install -d -m 700 $(WORLD) && install -d -m 711 $(WORKTREES)
	$(BIN)/ailang-worldd serve --db $(WORLD)/world.db --workspace-root $(WORKTREES)

test:
	ci/setup test
	ci/test

prove:
	ci/setup prove
	$(GO) run ./cmd/world-law prove
	$(GO) run ./cmd/world-law validate

lint:
	ci/lint

bench:
	ci/setup test
	cd bench && $(GO) test ./decide -run '^TestEnginesAgree$$' -v -decide.questions 5000
	cd bench && $(GO) test -run '^$$' -bench . ./...
	ci/postgres sh -c 'cd bench && exec $(GO) run ./journal'

# The long suites: the same code as in make test, at full size.

# Every mutant of the models and of the Go laws.
mutants:
	ci/setup prove
	$(GO) run ./cmd/world-law mutants

# Each guard of the fence taken out, and the acts that it stops run without it.
guards:
	ci/setup test
	$(GO) test ./ci/guards -v -count 1 -timeout 12h -tags guards

# Runs until told to stop, and goes on where it stopped.
drift-nightly:
	ci/setup prove
	@mkdir -p out
	$(GO) run ./cmd/world-law drift --inputs 0 --resume out/drift.json

# Kills processes at every named moment of a call until there were that many; a
# run prints its seed, and SEED=N plays the same kills again.
KILLS ?= 10000
SEED  ?= 0
crash:
	ci/setup test
	$(GO) test ./ci/crash -v -count 1 -timeout 12h -kills $(KILLS) -seed $(SEED)

# Mixed calls of 16 callers over 8 episodes, some cut half-way: what is left behind.
CALLS ?= 10000
soak:
	ci/setup test
	$(GO) test ./ci/soak -v -count 1 -timeout 12h -calls $(CALLS) -seed $(SEED)

# A store of a million entries beside one of a thousand.
ENTRIES ?= 1000000
scale:
	ci/setup test
	$(GO) test ./ci/scale -v -count 1 -timeout 6h -entries $(ENTRIES)
