#!/usr/bin/python3
# An interpreter that takes AILANG's flags and acts for three kinds of programs: one
# that answers with its input and "!", one that says what it was asked, and one that
# needs a capability, which it grants only where it was made to.
import json, re, sys

granted = ()  # what it grants unasked

args = sys.argv[1:]
if args[:6] != ["run", "--quiet", "--caps", "", "--entry", "main"] or args[6] != "--args-json":
    sys.exit("unknown command or flags")
value, source = json.loads(args[7]), open(args[8]).read()
needs = re.search(r"! {(\w+)}", source)
if needs and needs[1] not in granted:
    sys.exit("effect '%s' requires capability, but none provided" % needs[1])
if "-- says" in source:
    print(json.dumps({"ok": True, "said": json.loads(value)}))
else:
    print(value + "!")
