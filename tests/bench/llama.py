#!/usr/bin/env python3
"""llama-bench of llama.cpp with a small model of random weights: prints `NAME VALUE us`, what a
token takes of a prompt of 512 (pp512) and of 128 that are generated (tg128).
tests/bench/run.py --suite llama runs it.

    llama.py [--list] [--quick] [NAME]...

The program and the model are out/llama/'s, which scripts/carry-llama makes.
"""

import json
import os
import pathlib
import subprocess
import sys

LLAMA = pathlib.Path(__file__).resolve().parents[2] / "out" / "llama"
CUDA_LIBRARIES = "/usr/local/cuda/lib64"
REPEATS, QUICK_REPEATS = 10, 3

# name: (environment, arguments)
KINDS = {
    "llama_graphs": ({}, ()),
    "llama_no_graphs": ({"GGML_CUDA_DISABLE_GRAPHS": "1"}, ()),
    "llama_host_cache": ({}, ("-nkvo", "1")),  # the cache of keys and values in host memory
}


def bench(name, repeats):
    """(prompt's tokens or 0, generated ones or 0, tokens a second) of each test."""
    environment, arguments = KINDS[name]
    paths = [path for path in (os.environ.get("LD_LIBRARY_PATH"), CUDA_LIBRARIES) if path]
    command = [LLAMA / "llama-bench", "-m", LLAMA / "model.gguf", "-p", "512", "-n", "128",
               "-ngl", "99", "-r", str(repeats), "-o", "jsonl", *arguments]
    run = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False,
                         env=os.environ | environment | {"LD_LIBRARY_PATH": ":".join(paths)})
    if run.returncode:
        sys.exit(run.returncode if run.returncode > 0 else 128 - run.returncode)
    for line in run.stdout.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            yield found["n_prompt"], found["n_gen"], found["avg_ts"]


def main(arguments):
    if "--list" in arguments:
        print("\n".join(KINDS))
        return 0
    names = [argument for argument in arguments if argument != "--quick"] or list(KINDS)
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        print(f"no benchmark {unknown[0]}; there are {', '.join(KINDS)}", file=sys.stderr)
        return 2
    for name in names:
        if not (LLAMA / "llama-bench").exists():
            print(f"# {name}: needs out/llama/llama-bench, which scripts/carry-llama makes")
            continue
        for prompt, generated, per_second in bench(
                name, QUICK_REPEATS if "--quick" in arguments else REPEATS):
            test = f"pp{prompt}" if prompt else f"tg{generated}"
            print(f"{name}_{test} {1e6 / per_second:.3f} us", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
