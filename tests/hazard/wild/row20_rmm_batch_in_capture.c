// expect: SC304 action=rerouted certainty=observed
//
// docs/wild-bugs.md, row 20: one helper brings the small tables of a step to the device, as one
// batch. It is used eagerly at first and then captured, where the batch fails and only its caller
// could tell. Fixed, the helper asks whether its stream captures and then copies table by table.
#include "capture.h"

enum { TABLES = 4 };

static void *tables[TABLES];
static void *staging[TABLES];

static bool captures(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    CHECK(cudaStreamIsCapturing(stream, &status));
    return status == cudaStreamCaptureStatusActive;
}

static void upload_tables(cudaStream_t stream)
{
    const void *sources[TABLES];
    size_t sizes[TABLES];
    for (int i = 0; i < TABLES; i++) {
        sources[i] = staging[i];
        sizes[i] = SMALL;
    }
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;
    if (!fixed || !captures(stream)) {
        TRY(cudaMemcpyBatchAsync(tables, sources, sizes, TABLES, &order, &first, 1, stream));
        return;
    }
    for (int i = 0; i < TABLES; i++)
        TRY(cudaMemcpyAsync(tables[i], sources[i], sizes[i], cudaMemcpyHostToDevice, stream));
}

static void fill_staging(unsigned seed)
{
    for (int i = 0; i < TABLES; i++)
        fill(staging[i], SMALL, seed + (unsigned)i);
}

static bool tables_hold(unsigned seed)
{
    bool right = true;
    for (int i = 0; i < TABLES; i++)
        right = right && device_holds(tables[i], SMALL, seed + (unsigned)i);
    return right;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    for (int i = 0; i < TABLES; i++) {
        tables[i] = device_block(SMALL, 0);
        staging[i] = pinned_block(SMALL, 0);
    }

    fill_staging(WANTED);
    upload_tables(stream);
    CHECK(cudaStreamSynchronize(stream));
    bool right = tables_hold(WANTED);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    upload_tables(stream);
    cudaGraphExec_t exec = end_capture(stream, TABLES);
    fill_staging(FOREIGN);
    replay(exec, stream);
    return finish(!broken && right && tables_hold(FOREIGN));
}
