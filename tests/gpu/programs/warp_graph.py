"""A step of a simulation is captured with Warp and launched many times; its input is refilled from
pinned memory between launches, and its result is read behind them."""

from support.common import checksum, require, shipped

shipped("warp")
wp, np = require("warp", "numpy")

COUNT = 1 << 16


@wp.kernel
def move(place: wp.array(dtype=float), speed: wp.array(dtype=float)):
    i = wp.tid()
    place[i] = place[i] + 0.5 * speed[i]


def main():
    wp.config.quiet = True  # its times differ from run to run
    wp.init()
    place = wp.zeros(COUNT, dtype=float)
    speed = wp.zeros(COUNT, dtype=float)
    staging = wp.zeros(COUNT, dtype=float, device="cpu", pinned=True)
    result = wp.zeros(COUNT, dtype=float, device="cpu", pinned=True)
    wp.launch(move, dim=COUNT, inputs=[place, speed])
    wp.synchronize()
    with wp.ScopedCapture() as capture:
        wp.copy(speed, staging)
        wp.launch(move, dim=COUNT, inputs=[place, speed])
        wp.copy(result, place)
    for step in range(10):
        staging.numpy()[:] = np.arange(COUNT, dtype=np.float32) * step
        wp.capture_launch(capture.graph)
        wp.synchronize()
        print(step, checksum(result.numpy()))
    print(checksum(place.numpy()))


if __name__ == "__main__":
    main()
