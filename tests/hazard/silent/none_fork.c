// expect: none
//
// A child of fork inherits a source and a destination in flight. It has copies of their pages and
// does with those what it likes; the parent waits for its own.
#include "touch.h"

#include <sys/wait.h>

int main(void)
{
    int status = 0;
    struct gate gate = {0};
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *from = device_block(SMALL, WANTED);
    void *source = registered_page_block(SMALL, WANTED);
    void *target = registered_page_block(SMALL, FOREIGN);

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, stream));
    pid_t child = fork();
    if (child == 0) {
        bool kept = holds(source, SMALL, WANTED) && holds(target, SMALL, FOREIGN);
        fill(source, SMALL, FOREIGN);
        fill(target, SMALL, 0);
        _exit(kept && holds(source, SMALL, FOREIGN) && holds(target, SMALL, 0) ? 7 : 8);
    }
    bool right = child > 0 && waitpid(child, &status, 0) == child;
    right = right && WIFEXITED(status) && WEXITSTATUS(status) == 7;
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    right = right && !gate.gave_up && device_holds(to, SMALL, WANTED);
    return finish(right && holds(target, SMALL, WANTED));
}
