# env: XLA_PYTHON_CLIENT_PREALLOCATE=false
# env: TF_CPP_MIN_LOG_LEVEL=3
"""JAX with arrays in pinned host memory: parameters live there, come to the device for a step that
is given their memory, and go back."""

from support.common import checksum, require, skip

jax, np = require("jax", "numpy")


def main():
    if jax.default_backend() != "gpu":
        skip("JAX finds no GPU")
    device = jax.devices()[0]
    if "pinned_host" not in {memory.kind for memory in device.addressable_memories()}:
        skip("JAX knows no pinned memory here")
    on_device = jax.sharding.SingleDeviceSharding(device)
    on_host = jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
    step = jax.jit(lambda values, by: values * 2 + by, donate_argnums=0)
    parameters = [jax.device_put(np.full((1 << 14,), index, dtype=np.float32), on_host)
                  for index in range(8)]
    for turn in range(10):
        there = [jax.device_put(parameter, on_device) for parameter in parameters]
        there = [step(values, float(turn)) for values in there]
        parameters = [jax.device_put(values, on_host) for values in there]
        if turn % 3 == 0:
            print(turn, [checksum(np.asarray(parameter)) for parameter in parameters[::4]])
    jax.block_until_ready(parameters)


if __name__ == "__main__":
    main()
