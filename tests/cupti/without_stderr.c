// run: -> hazards=1
// run: nonsense=1:verbosity=2:help=1 -> hazards=1
// run: strict=1 -> hazards=1 exit=66
/* Started without a standard error: the program's first file becomes descriptor 2, and what the
 * library has to say of a hazard must not land in it. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler.h"

static void race(void)
{
    void *source = malloc(1 << 20);
    CUDA(cudaHostRegister(source, 1 << 20, 0));
    CUDA(cudaMalloc(&device, 1 << 20));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMemcpyAsync(device, source, 1 << 20, cudaMemcpyHostToDevice, stream));
    free(source);
}

static int second_life(const char *path)
{
    CHECK(open(path, O_WRONLY) == STDERR_FILENO);
    race();
    return 0;
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/safecopy-test-XXXXXX";
    int status = -1;
    if (argc > 1)
        return second_life(argv[1]);
    int file = mkstemp(path);
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        execl("/proc/self/exe", argv[0], path, (char *)NULL);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK(lseek(file, 0, SEEK_END) == 0);
    CHECK(unlink(path) == 0);
    return WEXITSTATUS(status);
}
