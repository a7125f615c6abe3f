# env: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,pinned_use_cuda_host_register:True
"""The caching allocator with expandable segments, which maps device memory by itself, and with
pinned memory that it registers."""

from support.common import require
from support.churn import churn

torch = require("torch")

if __name__ == "__main__":
    churn(torch)
