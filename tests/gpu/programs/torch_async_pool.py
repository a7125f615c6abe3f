# env: PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
"""The driver's own pool as PyTorch's allocator: blocks are given back on the stream that used them,
and come again on others."""

from support.common import require
from support.churn import churn

torch = require("torch")

if __name__ == "__main__":
    churn(torch)
