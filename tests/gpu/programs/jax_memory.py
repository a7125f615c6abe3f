# env: XLA_PYTHON_CLIENT_PREALLOCATE=false
"""XLA's allocator says what it has of the device: the ledger agrees."""

from support.common import require
from support.ledger import compare, held

jax, jnp = require("jax", "jax.numpy")


def main():
    kept = [jnp.ones(1 << size, dtype=jnp.uint8) for size in range(4, 26)]
    jax.block_until_ready(kept)
    pool = jax.devices()[0].memory_stats()["pool_bytes"]
    ours = held("JAX", "device", "pooled", "physical")
    print("22 arrays", "agrees" if ours is None or ours >= pool else f"{pool}, the ledger {ours}")


if __name__ == "__main__":
    main()
