// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// docs/wild-bugs.md, row 17: a function uploads six of its locals, one by one. They are pageable,
// and so the copies are staged: until somebody captures the function.
#include "graphs.h"

struct settings {
    int frame_skip;
    int frame_stack;
    int width;
    int height;
    float repeat_probability;
    unsigned char palette[96];
};

static TWIN_HELPER void upload_one(void *device, const void *host, size_t bytes,
                                   cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
}

static TWIN_HELPER void upload(struct settings *to, cudaStream_t stream)
{
    static struct settings kept;
    int frame_skip = 4;
    int frame_stack = 3;
    int width = 160;
    int height = 210;
    float repeat_probability = 0.25F;
    unsigned char palette[sizeof kept.palette];
    fill(palette, sizeof palette, WANTED);
    if (fixed) {
        kept = (struct settings){frame_skip, frame_stack, width, height, repeat_probability, {0}};
        memcpy(kept.palette, palette, sizeof palette);
    }

    upload_one(&to->frame_skip, fixed ? &kept.frame_skip : &frame_skip, sizeof(int), stream);
    upload_one(&to->frame_stack, fixed ? &kept.frame_stack : &frame_stack, sizeof(int), stream);
    upload_one(&to->width, fixed ? &kept.width : &width, sizeof(int), stream);
    upload_one(&to->height, fixed ? &kept.height : &height, sizeof(int), stream);
    upload_one(&to->repeat_probability, fixed ? &kept.repeat_probability : &repeat_probability,
               sizeof(float), stream);
    upload_one(to->palette, fixed ? kept.palette : palette, sizeof palette, stream);
}

int main(void)
{
    struct settings got;
    cudaStream_t stream = new_stream();
    struct settings *device = (struct settings *)device_block(sizeof *device, 0);
    begin_capture(stream);
    upload(device, stream);
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    reuse_stack();
    replay(exec, stream);
    CHECK(cudaMemcpy(&got, device, sizeof got, cudaMemcpyDeviceToHost));
    bool right = got.frame_skip == 4 && got.frame_stack == 3 && got.width == 160;
    right = right && got.height == 210 && got.repeat_probability == 0.25F;
    return finish(right && holds(got.palette, sizeof got.palette, WANTED));
}
