// cflags: -fno-inline
/* A feature service that damages the frames it is given: the first program of `make demo`.
 *
 * Every camera has a staging buffer from malloc, registered with CUDA so that its upload does not
 * block. The uploads queue up behind the model's weights on one stream. The mistake is in
 * close_cameras(): it frees the buffers when the uploads have been issued, not when they are done,
 * and the labels that the service writes next get the same heap blocks.
 *
 * Exit status 0: every frame arrived as its camera sent it; 1: some did not; 3: a CUDA call failed.
 */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAMERAS = 8 };

/* 192 x 192 RGB: below the size from which malloc maps a block of its own. */
static const size_t FRAME_BYTES = 192 * 192 * 3;
static const size_t WEIGHTS_BYTES = (size_t)256 << 20;

struct camera {
    unsigned char *staging;
    unsigned char *on_device;
};

#define CHECK(call) check((call), #call)

static void check(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "%s: error %d\n", call, (int)result);
    exit(3);
}

static unsigned char pixel(int camera, size_t at)
{
    return (unsigned char)(at * 7 + (at >> 9) + (size_t)camera * 29);
}

static void open_camera(struct camera *camera)
{
    camera->staging = malloc(FRAME_BYTES);
    if (!camera->staging)
        exit(3);
    CHECK(cudaHostRegister(camera->staging, FRAME_BYTES, cudaHostRegisterDefault));
    CHECK(cudaMalloc((void **)&camera->on_device, FRAME_BYTES));
}

static void upload_weights(unsigned char *weights, unsigned char *on_device, cudaStream_t stream)
{
    memset(weights, 1, WEIGHTS_BYTES);
    CHECK(cudaMemcpyAsync(on_device, weights, WEIGHTS_BYTES, cudaMemcpyHostToDevice, stream));
}

static void upload_frame(struct camera *camera, int number, cudaStream_t stream)
{
    for (size_t at = 0; at < FRAME_BYTES; at++)
        camera->staging[at] = pixel(number, at);
    CHECK(cudaMemcpyAsync(camera->on_device, camera->staging, FRAME_BYTES, cudaMemcpyHostToDevice,
                          stream));
}

/* The mistake: nothing has waited for the stream. */
static void close_cameras(struct camera *cameras)
{
    for (int i = 0; i < CAMERAS; i++)
        free(cameras[i].staging);
}

/* Ordinary work on ordinary memory, which knows nothing of CUDA. */
static void write_labels(char **labels)
{
    for (int i = 0; i < CAMERAS; i++) {
        labels[i] = malloc(FRAME_BYTES);
        if (!labels[i])
            exit(3);
        memset(labels[i], '.', FRAME_BYTES);
        snprintf(labels[i], FRAME_BYTES, "camera %d: a cat", i);
    }
}

/* Into memory that is nobody else's: the heap still has blocks in it that are registered. */
static size_t count_wrong_pixels(const struct camera *camera, int number)
{
    static unsigned char image[192 * 192 * 3];
    size_t wrong = 0;

    CHECK(cudaMemcpy(image, camera->on_device, FRAME_BYTES, cudaMemcpyDeviceToHost));
    for (size_t at = 0; at < FRAME_BYTES; at++)
        wrong += image[at] != pixel(number, at);
    return wrong;
}

static bool print_verdict(const struct camera *cameras)
{
    int right = 0;

    for (int i = 0; i < CAMERAS; i++) {
        size_t wrong = count_wrong_pixels(&cameras[i], i);
        printf("  camera %d: %6zu of %zu bytes wrong on the device\n", i, wrong, FRAME_BYTES);
        right += wrong == 0;
    }
    printf("  %d of %d frames arrived as they were sent\n", right, (int)CAMERAS);
    return right == CAMERAS;
}

int main(void)
{
    struct camera cameras[CAMERAS];
    char *labels[CAMERAS];
    unsigned char *weights, *weights_on_device;
    cudaStream_t stream;

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost((void **)&weights, WEIGHTS_BYTES));
    CHECK(cudaMalloc((void **)&weights_on_device, WEIGHTS_BYTES));
    for (int i = 0; i < CAMERAS; i++)
        open_camera(&cameras[i]);

    upload_weights(weights, weights_on_device, stream);
    for (int i = 0; i < CAMERAS; i++)
        upload_frame(&cameras[i], i, stream);
    close_cameras(cameras);
    write_labels(labels);

    CHECK(cudaStreamSynchronize(stream));
    bool right = print_verdict(cameras);
    for (int i = 0; i < CAMERAS; i++)
        free(labels[i]);
    return right ? 0 : 1;
}
