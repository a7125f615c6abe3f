# expect: SC301 action=rerouted certainty=observed
"""Inside the capture of a blocking stream an array is read with .get() on the legacy stream, as
Warp's .numpy() does, and another is set there."""

from support.common import finish, require

cp, np, cupyx = require("cupy", "numpy", "cupyx")

COUNT = 1 << 16


def main():
    stream = cp.cuda.Stream()
    array = cp.zeros(COUNT, dtype=cp.float32)
    other = cp.arange(COUNT, dtype=cp.float32)
    step = cp.float32(3)
    cp.add(array, step, out=array)  # compiled before the capture
    host = cupyx.empty_pinned(COUNT, dtype=np.float32)
    seen = None
    graph = None
    cp.cuda.Device().synchronize()
    try:
        with stream:
            stream.begin_capture()
            cp.add(array, step, out=array)
            with cp.cuda.Stream.null:
                cp.cuda.runtime.memcpy(host.ctypes.data, other.data.ptr, other.nbytes,
                                       cp.cuda.runtime.memcpyDeviceToHost)
            seen = host.copy()
            graph = stream.end_capture()
    except cp.cuda.runtime.CUDARuntimeError as error:
        print(error, flush=True)
        finish(False)
        return
    for _ in range(5):
        graph.launch(stream=stream)
    stream.synchronize()
    right = bool((array.get() == 18).all()) and bool((seen == np.arange(COUNT)).all())
    finish(right)


if __name__ == "__main__":
    main()
