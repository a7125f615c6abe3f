# expect: SC301 action=rerouted certainty=observed event=cuStreamWaitEvent
# expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoHAsync_v2
"""Inside a capture an array is read with Warp's .numpy(), which waits on the legacy stream for the
captured work and copies there (NVIDIA/warp#653)."""

from support.common import finish, require, shipped

shipped("warp")
wp, np = require("warp", "numpy")

COUNT = 1 << 16


@wp.kernel
def add(array: wp.array(dtype=float), step: float):
    i = wp.tid()
    array[i] = array[i] + step


def main():
    wp.config.quiet = True  # its times differ from run to run
    wp.init()
    array = wp.zeros(COUNT, dtype=float)
    other = wp.array(np.arange(COUNT, dtype=np.float32))
    wp.launch(add, dim=COUNT, inputs=[array, 3.0])  # compiled before the capture
    wp.synchronize()
    seen = None
    graph = None
    try:
        wp.capture_begin()
        wp.launch(add, dim=COUNT, inputs=[array, 3.0])
        seen = other.numpy().copy()
        graph = wp.capture_end()
    except Exception as error:  # as Warp passes on what the driver says
        print(type(error).__name__, error, flush=True)
        finish(False)
        return
    for _ in range(5):
        wp.capture_launch(graph)
    wp.synchronize()
    right = bool((array.numpy() == 18).all()) and bool((seen == np.arange(COUNT)).all())
    finish(right)


if __name__ == "__main__":
    main()
