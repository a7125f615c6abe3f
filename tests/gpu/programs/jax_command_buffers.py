# env: XLA_PYTHON_CLIENT_PREALLOCATE=false
# env: TF_CPP_MIN_LOG_LEVEL=3
# env: XLA_FLAGS=--xla_gpu_graph_min_graph_size=1 --xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL
"""JAX with command buffers: XLA makes a graph of each compiled step, and launches and updates it while
inputs and results are copied."""

from support.common import checksum, require, skip

jax, np = require("jax", "numpy")

SIZE = 256


def step(state, update):
    """In small whole numbers: exact, whichever algorithm XLA finds the fastest."""
    for _ in range(4):
        state = (state @ update) % 7 + update
    return state, state.sum(axis=0)


def main():
    if jax.default_backend() != "gpu":
        skip("JAX finds no GPU")
    compiled = jax.jit(step)
    device = jax.devices()[0]
    states = [jax.device_put(np.full((SIZE, SIZE), index, dtype=np.float32), device)
              for index in range(2)]
    for number in range(24):
        update = np.full((SIZE, SIZE), number % 3, dtype=np.float32)
        which = number % 2
        states[which], sums = compiled(states[which], jax.device_put(update, device))
        if number % 6 >= 4:
            print(number, checksum(np.asarray(sums)))
    print("end", [checksum(np.asarray(state)) for state in states])


if __name__ == "__main__":
    main()
