# Read lines from standard input and end with an exit code
# tags: input, exit, text
import sys

kept = [line.rstrip("\n") for line in sys.stdin if line.strip()]
for line in kept:
    print(line)
sys.exit(0 if kept else 3)
