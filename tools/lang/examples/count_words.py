# Count the words of files that are named as arguments
# tags: files, text, arguments
import sys

for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as f:
        print(name, len(f.read().split()))
