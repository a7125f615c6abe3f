# env: XLA_PYTHON_CLIENT_PREALLOCATE=false
# env: TF_CPP_MIN_LOG_LEVEL=3
"""JAX: transfers both ways and a compiled function, many times over."""

from support.common import checksum, require, skip

jax, np = require("jax", "numpy")


def main():
    if jax.default_backend() != "gpu":
        skip("JAX finds no GPU")
    step = jax.jit(lambda values, scale: values * scale + 1)
    device = jax.devices()[0]
    for index in range(20):
        host = np.arange(1 << 16, dtype=np.float32) + index
        on_device = jax.device_put(host, device)
        result = step(on_device, 2.0)
        if index % 5 == 0:
            print(index, checksum(np.asarray(result)))
    ones = jax.device_put(np.ones((256, 256), dtype=np.float32), device)
    product = jax.jit(lambda a: (a @ a).sum())(ones)
    print("product", float(jax.device_get(product)))
    many = [jax.device_put(np.full((1024,), index, dtype=np.int32), device) for index in range(64)]
    print("sums", [int(array.sum()) for array in many[::16]])
    jax.block_until_ready(many)


if __name__ == "__main__":
    main()
