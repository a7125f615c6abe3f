// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// An object uploads its own member, and lives on the frame of the function that captures.
#include "graphs.h"

class parameters
{
  public:
    parameters()
    {
        fill(bytes, sizeof bytes, WANTED);
    }
    void upload(void *device, cudaStream_t stream) const
    {
        CHECK(cudaMemcpyAsync(device, bytes, sizeof bytes, cudaMemcpyHostToDevice, stream));
    }

  private:
    unsigned char bytes[256];
};

static TWIN_HELPER cudaGraphExec_t record(void *device, cudaStream_t stream)
{
    static const parameters kept;
    const parameters local;
    begin_capture(stream);
    (fixed ? kept : local).upload(device, stream);
    return instantiate_only(end_capture(stream));
}

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(sizeof(parameters), 0);
    cudaGraphExec_t exec = record(device, stream);

    reuse_stack();
    replay(exec, stream);
    return finish(device_holds(device, sizeof(parameters), WANTED));
}
