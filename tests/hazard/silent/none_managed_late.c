// expect: none
//
// Copies to managed memory and from it, by every way, between all kinds of memory that is not
// pageable. The stream is busy, and the first copy of each chain brings its source only then, so
// that whatever was read of source or target when a call was made is not what arrives.
#include "managed.h"

enum { PART = 1024, KINDS = 3, CELLS = 5, CHAINS = MANAGED_COPIES * CELLS };

struct chain {
    void *from, *to, *out;
};

/* Of pinned, registered and managed memory. */
static void *block_of(int kind)
{
    return kind == 0   ? pinned_block(PART, FOREIGN)
           : kind == 1 ? registered_block(PART, FOREIGN)
                       : managed_block(PART, FOREIGN);
}

static struct chain new_chain(int cell)
{
    const int from[CELLS] = {0, 1, 2, 2, 2}, to[CELLS] = {2, 2, 2, 0, 1};
    return (struct chain){block_of(from[cell]), block_of(to[cell]), device_block(PART, 0)};
}

static void begin_chain(const struct chain *chain, const void *wanted, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(chain->from, wanted, PART, cudaMemcpyDeviceToHost, stream));
}

/* The source is overwritten in the stream's order as well. */
static void end_chain(const struct chain *chain, const void *foreign, cudaStream_t stream,
                      cudaStream_t other)
{
    cudaEvent_t copied = new_event();
    CHECK(cudaEventRecord(copied, stream));
    CHECK(cudaStreamWaitEvent(other, copied, 0));
    CHECK(cudaEventDestroy(copied));
    CHECK(cudaMemcpyAsync(chain->from, foreign, PART, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(chain->out, chain->to, PART, cudaMemcpyDefault, other));
}

int main(void)
{
    static struct chain chains[CHAINS];
    cudaStream_t stream = new_stream(), other = new_stream();
    const void *wanted = device_block(PART, WANTED), *foreign = device_block(PART, FOREIGN);
    bool right = true;
    for (int i = 0; i < CHAINS; i++)
        chains[i] = new_chain(i % CELLS);

    occupy(stream);
    for (int i = 0; i < CHAINS; i++) {
        begin_chain(&chains[i], wanted, stream);
        managed_copies[i / CELLS](chains[i].to, chains[i].from, PART, stream);
        end_chain(&chains[i], foreign, stream, i % 2 ? other : stream);
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < CHAINS; i++) {
        right = right && holds(chains[i].to, PART, WANTED);
        right = right && device_holds(chains[i].out, PART, WANTED);
        fill(chains[i].from, PART, FOREIGN);
        fill(chains[i].to, PART, FOREIGN);
    }
    return finish(right);
}
