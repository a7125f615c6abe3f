// expect: SC201 kind=pinned
//
// docs/wild-bugs.md, row 32: plan() writes the indices of a batch into its one pinned workspace and
// uploads them. The plan of the next batch is made while the upload of the first is queued.
#include "touch.h"

enum { REQUESTS = 1024 };

struct plan {
    int32_t first_page[REQUESTS], last_page[REQUESTS];
};

static struct plan *workspace;

static void make_plan(struct plan *plan, int batch)
{
    for (int i = 0; i < REQUESTS; i++) {
        plan->first_page[i] = batch * 10000 + 2 * i;
        plan->last_page[i] = batch * 10000 + 2 * i + 1;
    }
}

static bool is_plan(const struct plan *device, int batch)
{
    static struct plan found, wanted;
    make_plan(&wanted, batch);
    CHECK(cudaMemcpy(&found, device, sizeof found, cudaMemcpyDeviceToHost));
    return memcmp(&found, &wanted, sizeof found) == 0;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    struct plan *plans[2];
    workspace = (struct plan *)pinned_block(sizeof *workspace, 0);
    for (int i = 0; i < 2; i++)
        plans[i] = (struct plan *)device_block(sizeof *plans[i], 0);

    busy(stream);
    for (int batch = 0; batch < 2; batch++) {
        make_plan(workspace, batch);
        CHECK(cudaMemcpyAsync(plans[batch], workspace, sizeof *workspace, cudaMemcpyHostToDevice,
                              stream));
        if (fixed)
            CHECK(cudaStreamSynchronize(stream));
    }

    CHECK(cudaStreamSynchronize(stream));
    return finish(is_plan(plans[0], 0) && is_plan(plans[1], 1));
}
