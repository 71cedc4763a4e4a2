#!/usr/bin/env python3
"""Holds the `// rocegen: comb` comments of the templates against the RTL.

The generator excludes combinational valid/ready loops by these comments, so they must be true. For every module that has one, Yosys
elaborates it with its default parameters (paths do not depend on sizes), and every path without a register from a stream's valid,
payload or ready input to a valid or ready output must be among those that the comment names.

  comb_check.py RTL_FOLDER...     sources of generated variants; a module that is the same in several is looked at once"""
import fnmatch
import os
import re
import subprocess
import sys

FLIP_FLOPS = ["$dff", "$dffe", "$sdff", "$sdffe", "$sdffce", "$adff", "$adffe", "$dffsr", "$mem_v2", "$mem", "$memrd_v2"]


def comment(path):
    """Allowed paths [(to, from)] by the comment, or None where there is none."""
    found = re.findall(r"//\s*rocegen:\s*comb\s+(.*)", open(path, encoding="utf-8").read())
    if not found:
        return None
    allowed = []
    for line in found:
        if line.strip() == "none":
            continue
        for item in line.split(","):
            to, _, source = item.strip().partition("<-")
            allowed.append((to.replace(".", "_"), source.replace(".", "_")))
    return allowed


def check(folder, sources, module):
    path = os.path.join(folder, module + ".sv")
    allowed = comment(path)
    if allowed is None:
        print("%s: no comment" % module)
        return False
    text = open(path, encoding="utf-8").read()
    header = re.sub(r"//[^\n]*", "", text[text.index("module " + module):text.index(");", text.index("module " + module))])
    inputs = re.findall(r"input\s+[^,;]*?\b([sm]_\w+_t(?:valid|ready|data|keep|last|user))\b", header)
    outputs = re.findall(r"output\s+[^,;]*?\b([sm]_\w+_t(?:valid|ready))\b", header)
    stop = ",".join("-" + kind for kind in FLIP_FLOPS)
    script = ["read_verilog -sv -I %s %s" % (folder, " ".join(sources)),
              "hierarchy -check -top %s; proc; flatten; opt_clean; memory_collect; opt_clean" % module]
    for out in outputs:
        script.append("select -set cone w:%s %%ci*:%s" % (out, stop))
        for name in inputs:
            script.append("tee -q -a %%LOG%% log == %s %s" % (out, name))
            script.append("tee -q -a %%LOG%% select -count @cone i:%s %%i" % name)
    log = os.path.join(os.environ.get("TMPDIR", "/tmp"), "comb-%d-%s.log" % (os.getpid(), module))
    if os.path.exists(log):
        os.remove(log)
    done = subprocess.run(["yosys", "-Q", "-T", "-q", "-p", "\n".join(script).replace("%%LOG%%", log).replace("%LOG%", log)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print("%s: yosys failed\n%s" % (module, (done.stdout + done.stderr)[-2000:]))
        return False
    paths = []
    pair = None
    for line in open(log, encoding="utf-8"):
        words = line.split()
        if words[:1] == ["=="]:
            pair = (words[1], words[2])
        elif len(words) >= 2 and words[1] == "objects." and words[0] != "0":
            paths.append(pair)
    os.remove(log)
    wrong = [(to, source) for to, source in paths
             if not any(fnmatch.fnmatchcase(to, a) and fnmatch.fnmatchcase(source, b) for a, b in allowed)]
    print("%s: %d paths, %d of them not in its comment" % (module, len(paths), len(wrong)))
    for to, source in wrong:
        print("  %s <- %s" % (to, source))
    return not wrong


def main():
    seen = set()
    results = []
    for folder in sys.argv[1:]:
        sources = []
        for line in open(os.path.join(folder, "..", "filelist.f"), encoding="utf-8"):
            line = line.strip()
            if line and not line.startswith("+"):
                sources.append(os.path.join(folder, os.path.basename(line)))
        for path in sources:
            text = open(path, encoding="utf-8").read()
            if comment(path) is not None and text not in seen:
                seen.add(text)
                results.append(check(folder, sources, os.path.basename(path)[:-3]))
    return 0 if all(results) and results else 1


if __name__ == "__main__":
    sys.exit(main())
