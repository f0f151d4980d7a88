# Three commands for people: make demo, make run, make test.
GO      ?= go
BIN     := bin
# Where make run keeps its lasting world, and where its worktrees lie beside it.
WORLD   ?= $(HOME)/.ailang/world
WORKTREES ?= $(HOME)/.ailang/world-ws

.PHONY: demo run test build prove lint bench

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/ ./cmd/...

demo:
	ci/setup run
	@$(MAKE) --no-print-directory build
	$(GO) run ./ci/demo $(BIN)

run:
	ci/setup run
	@$(MAKE) --no-print-directory build
	mkdir -p -m 700 $(WORLD) $(WORKTREES)
	$(BIN)/ailang-worldd serve --db $(WORLD)/world.db --workspace-root $(WORKTREES)

test:
	ci/setup test
	ci/test

prove:
	ci/setup prove
	$(GO) run ./cmd/world-law prove

lint:
	ci/lint

bench:
	ci/setup test
	cd bench && $(GO) test -run '^$$' -bench . ./...
