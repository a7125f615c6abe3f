# expect: SC201 kind=pinned certainty=observed
"""A pinned tensor, and a slice of another, are filled again at once after a non-blocking upload."""

from support.common import finish, hold, require

torch = require("torch")


def upload_and_refill(source):
    source.fill_(17)
    hold(torch.cuda.current_stream().cuda_stream)
    device = source.to("cuda", non_blocking=True)
    source.fill_(99)
    torch.cuda.synchronize()
    return bool((device == 17).all())


def main():
    whole = torch.empty(1 << 22).pin_memory()
    small = torch.empty(1000).pin_memory()
    finish(all([upload_and_refill(whole), upload_and_refill(whole[4096:1 << 20]),
                upload_and_refill(small)]))


if __name__ == "__main__":
    main()
