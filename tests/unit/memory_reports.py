"""Reports with memory, as the library writes them, for tests of what is shown of it."""

import json

MB = 1 << 20
GB = 1 << 30
UUID = "GPU-73696d75-6c61-7465-642d-6770752d30{:02x}"


def frame(function, file="/home/ada/train.py", line=8):
    return {"file": file, "line": line, "function": function}


def native(symbol, module="/home/ada/train", offset="0x4200"):
    return {"module": module, "offset": offset, "symbol": symbol}


def account(bytes_, blocks=1, kind="device", device=0, owner="train", api="cuMemAlloc_v2",
            stack=None, peak=None, **more):
    peak = bytes_ if peak is None else peak
    return {"kind": kind, "device": device, "owner": owner, "api": api, "bytes": bytes_,
            "blocks": blocks, "peak_bytes": peak, "peak_blocks": blocks, "ever_bytes": peak,
            "ever_blocks": blocks, "stack": [frame("step")] if stack is None else stack, **more}


OWN = ("device", "pooled", "array", "physical", "pinned", "registered")


def total(accounts, key):
    return sum(one[key] for one in accounts if one["kind"] in OWN)


def place(accounts, rest):
    kinds = {}
    for one in accounts + rest:
        kind = kinds.setdefault(one["kind"], {"bytes": 0, "blocks": 0, "peak_bytes": 0})
        for key in kind:
            kind[key] += one[key]
    return {"bytes": total(accounts + rest, "bytes"),
            "blocks": total(accounts + rest, "blocks"),
            "peak_bytes": total(accounts + rest, "peak_bytes"), "peak_ns": 3_000_000_000,
            "kinds": kinds, "pools": []}


def owners(accounts):
    sums = {}
    for one in accounts:
        if one["kind"] in OWN:
            known = sums.setdefault((one["owner"], one["device"]), [0, 0, 0])
            for at, key in enumerate(("bytes", "blocks", "peak_bytes")):
                known[at] += one[key]
    return [{"owner": owner, "device": device, "bytes": sums_[0], "blocks": sums_[1],
             "peak_bytes": sums_[2]} for (owner, device), sums_ in sums.items()]


def memory(accounts, time_ns=5_000_000_000, most=48, **more):
    """The member: of more accounts than `most` the others are left out, as the library does."""
    shown = sorted(accounts, key=lambda one: -max(one["bytes"], one["peak_bytes"]))[:most]
    rest = [one for one in accounts if not any(one is other for other in shown)]

    def of(device):
        return place([one for one in shown if one["device"] == device],
                     [one for one in rest if one["device"] == device])
    devices = sorted({one["device"] for one in accounts if one["device"] is not None})
    return {"time_ns": time_ns,
            "devices": [{"device": device, "uuid": UUID.format(device), **of(device),
                         "free_bytes": 60 * GB, "total_bytes": 80 * GB, **more}
                        for device in devices],
            "host": of(None), "owners": owners(accounts), "accounts": shown,
            "accounts_left_out": len(rest), "failures": 0, "unknown_frees": 0, "unrecorded": 0}


def run_line(command=("/home/ada/train",), pid=7, rank=None, host="node1"):
    return {"type": "run", "schema": 1, "version": "0.1.0", "command": list(command), "pid": pid,
            "host": host, "started": pid, "rank": rank, "driver_version": 13000,
            "runtime_version": 13000, "devices": ["GPU"], "options": {}, "modules": []}


def summary(member):
    return {"type": "summary", "hazards": 0, "observed": 0, "latent": 0, "suppressed": 0,
            "by_code": {}, "operations": 1, "options_ignored": [], "exit_status": 0,
            "memory": member}


def line(member):
    return {"type": "memory", "memory": member}


def as_report(lines):
    return "".join(json.dumps(one) + "\n" for one in lines).encode()
