// sim: late=0:delay=20us
// Arguments of a program, and what posix_spawn is to do in the child, lie on pages that other
// threads have results copied to all the time: the kernel and the child read them while copies come
// and go.
#include "survival.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { PAGE = 4096, NEIGHBOURS = 4, SPAWNS = 150, AT = 1024 };

struct orders {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
};

static atomic_bool over;
static char *page; /* the arguments, and behind it another one: */
static struct orders *orders;

static void *copy_beside(void *which)
{
    char *result = page + *(int *)which % 2 * PAGE + 2048 + *(int *)which * 64;
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

    int result = posix_spawn(&child, "/bin/sh", &orders->actions, &orders->attributes, arguments,
                             environment);
    if (result != 0)
        return -result;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    pthread_t threads[NEIGHBOURS];
    int numbers[NEIGHBOURS];
    int right = 0;

    CHECK(cudaMallocHost((void **)&page, 2 * PAGE));
    orders = (struct orders *)(page + PAGE);
    CHECK(posix_spawnattr_init(&orders->attributes));
    CHECK(posix_spawnattr_setflags(&orders->attributes, POSIX_SPAWN_SETPGROUP));
    CHECK(posix_spawn_file_actions_init(&orders->actions));
    CHECK(posix_spawn_file_actions_adddup2(&orders->actions, 1, 3));
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
    CHECK(posix_spawnattr_destroy(&orders->attributes));
    CHECK(posix_spawn_file_actions_destroy(&orders->actions));
    CHECK(cudaFreeHost(page));
    printf("%d of %d programs ran\n", right, SPAWNS);
    return 0;
}
