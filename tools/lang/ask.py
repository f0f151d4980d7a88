import contextlib, io, json, sys


def check(source):
    try:
        compile(source, "program", "exec", dont_inherit=True)
    except SyntaxError as e:
        # What is no place, such as that of an encoding, is 0, or -1.
        return [dict(code="PY_SYNTAX", message=e.msg, line=max(0, e.lineno or 0), column=max(0, e.offset or 0))]
    except (RecursionError, MemoryError):
        return [dict(code="PY_SYNTAX", message="nested too deep: parts of the program lie within each other deeper than python3 compiles")]
    except ValueError as e:
        return [dict(code="PY_SYNTAX", message=str(e))]
    return []


# Modules that act when they are imported.
ACTS = {"antigravity", "this", "idlelib", "turtledemo"}


def names(module):
    if not module:
        found = [dict(Name=n, Effect="any", Module="python") for n in dir(__builtins__) if not n.startswith("_")]
        return found + [dict(Name=n, Effect="module", Module="python") for n in sorted(sys.stdlib_module_names) if not n.startswith("_")]
    if module.split(".")[0] not in sys.stdlib_module_names or module.split(".")[0] in ACTS:
        return []
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            __import__(module)
    except Exception:
        return []
    found = []
    for n in dir(sys.modules[module]):
        if not n.startswith("_"):
            value = getattr(sys.modules[module], n, None)
            doc = (getattr(value, "__doc__", None) or "").strip().splitlines()
            use = doc[0] if doc and callable(value) else ""
            effect = "module" if type(value) is type(sys) else "any"
            found.append(dict(Name=n, Effect=effect, Module="python/" + module, Use=use[:200]))
    return found


if sys.argv[1] == "check":
    answer = check(sys.stdin.buffer.read())
else:
    answer = names(sys.argv[2])
json.dump(answer, sys.stdout)
