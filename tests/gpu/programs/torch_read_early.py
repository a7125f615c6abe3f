# expect: SC202 kind=pinned certainty=observed
""".to("cpu", non_blocking=True) is read before anything has waited for it: a large tensor, and a
single number."""

from support.common import finish, hold, require

torch = require("torch")


def read_early(count):
    device = torch.full((count,), 17.0, device="cuda")
    torch.cuda.synchronize()
    hold(torch.cuda.current_stream().cuda_stream)
    host = device.to("cpu", non_blocking=True)
    right = bool((host == 17).all())
    torch.cuda.synchronize()
    return right


def main():
    finish(all([read_early(1 << 22), read_early(1)]))


if __name__ == "__main__":
    main()
