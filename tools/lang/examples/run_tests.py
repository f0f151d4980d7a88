# Find and run the unit tests below the worktree
# tags: tests, unittest
import sys
import unittest

found = unittest.defaultTestLoader.discover(".", pattern="test*.py")
result = unittest.TextTestRunner(stream=sys.stdout).run(found)
sys.exit(0 if result.wasSuccessful() else 1)
