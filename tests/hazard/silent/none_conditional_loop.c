// expect: none
// needs: sim
//
// A loop and what is in its body: the program waits for each launch before it uses what that names.
// Another loop does not begin, which the program knows: it uses what that names at once.
#include "counting.h"

enum { TURNS = 4 };

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0), *other = driver_pinned_block(SMALL, 0);
    CUgraph graph = new_graph(), body = body_of_loop(graph, 2);
    bool right = true;
    add_copy(body_of_if(body), device, source);
    add_copy(body_of_loop(graph, 0), device, other);
    CUgraphExec exec = exec_of(graph);

    for (unsigned turn = 0; turn < TURNS; turn++) {
        fill(source, SMALL, turn);
        driver_busy(stream);
        CHECK(cuGraphLaunch(exec, stream));
        fill(other, SMALL, turn);
        CHECK(cuStreamSynchronize(stream));
        right = right && driver_device_holds(device, SMALL, turn);
    }
    return finish(right);
}
