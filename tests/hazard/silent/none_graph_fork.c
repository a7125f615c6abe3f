// expect: none
//
// A child of fork does what it likes with the buffers that a graph of its parent names; the parent
// launches.
#include "graphs.h"
#include "touch.h"

#include <sys/wait.h>

int main(void)
{
    int status = 0;
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *source = registered_page_block(SMALL, WANTED);
    void *pageable = filled_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(to, pageable, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    pid_t child = fork();
    if (child == 0) {
        fill(source, SMALL, FOREIGN);
        fill(pageable, SMALL, FOREIGN);
        free(pageable);
        free(source);
        _exit(holds(filled_block(SMALL, 0), SMALL, 0) ? 7 : 8);
    }
    bool right = child > 0 && waitpid(child, &status, 0) == child;
    right = right && WIFEXITED(status) && WEXITSTATUS(status) == 7;

    replay(exec, stream);
    right = right && device_holds(to, SMALL, WANTED);
    return finish(right && holds(pageable, SMALL, WANTED) && holds(source, SMALL, WANTED));
}
