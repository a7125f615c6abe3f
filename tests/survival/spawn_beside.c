// sim: late=0:delay=20us
// Arguments of a program lie on a page that other threads have results copied to all the time: the
// kernel reads them while copies come and go.
#include "survival.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { PAGE = 4096, NEIGHBOURS = 2, SPAWNS = 150, AT = 1024 };

static atomic_bool over;
static char *page;

static void *copy_beside(void *which)
{
    char *result = page + 2048 + *(int *)which * 64;
    cudaStream_t stream = NULL;
    void *device = NULL;

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, 64));
    while (!atomic_load(&over)) {
        CHECK(cudaMemcpyAsync(result, device, 64, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
    return NULL;
}

static int run(char *command)
{
    char shell[] = "sh", flag[] = "-c";
    char *arguments[] = {shell, flag, command, NULL};
    char *environment[] = {command, NULL};
    pid_t child = 0;
    int status = 0;

    int result = posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environment);
    if (result != 0)
        return -result;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    pthread_t threads[NEIGHBOURS];
    int numbers[NEIGHBOURS];
    int right = 0;

    CHECK(cudaMallocHost((void **)&page, PAGE));
    for (int i = 0; i < NEIGHBOURS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, copy_beside, &numbers[i]));
    }
    strcpy(page + AT, "exit 7");
    for (int i = 0; i < SPAWNS; i++)
        right += run(page + AT) == 7;
    atomic_store(&over, true);
    for (int i = 0; i < NEIGHBOURS; i++)
        CHECK(pthread_join(threads[i], NULL));
    CHECK(cudaFreeHost(page));
    printf("%d of %d programs ran\n", right, SPAWNS);
    return 0;
}
