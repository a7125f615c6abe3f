// expect: SC305 advisory=True kind=device certainty=latent event=cuMemsetD8Async
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemsetD16Async
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemsetD32Async
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemsetD2D8Async
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemsetD2D16Async
// expect: SC305 advisory=True kind=device certainty=latent event=cuMemsetD2D32Async
//
// Memsets of each width on the legacy stream, within a capture of other memory, are meant for each
// launch. The program clears what they have set, launches the graph, and downloads zeros.
#include "unused.h"

enum { FORMS = 6, ROWS = 64, ROW = 1024 };

static void set(void *memory, int form, CUstream stream)
{
    CUdeviceptr to = (CUdeviceptr)memory;
    if (form == 0)
        CHECK(cuMemsetD8Async(to, 7, SMALL, stream));
    else if (form == 1)
        CHECK(cuMemsetD16Async(to, 0x0707, SMALL / 2, stream));
    else if (form == 2)
        CHECK(cuMemsetD32Async(to, 0x07070707, SMALL / 4, stream));
    else if (form == 3)
        CHECK(cuMemsetD2D8Async(to, ROW, 7, ROW, ROWS, stream));
    else if (form == 4)
        CHECK(cuMemsetD2D16Async(to, ROW, 0x0707, ROW / 2, ROWS, stream));
    else
        CHECK(cuMemsetD2D32Async(to, ROW, 0x07070707, ROW / 4, ROWS, stream));
}

int main(void)
{
    bool right = true;
    void *memory[FORMS];
    for (int form = 0; form < FORMS; form++)
        memory[form] = device_block(SMALL, FOREIGN);
    struct unused unused = unused_begin();

    for (int form = 0; form < FORMS; form++)
        set(memory[form], form, fixed ? unused.stream : NULL);
    unused_end(&unused, fixed ? FORMS : 0);
    for (int form = 0; form < FORMS; form++)
        unused_clear(memory[form]);
    replay(unused.exec, unused.stream);
    for (int form = 0; form < FORMS; form++)
        right = device_is(memory[form], SMALL, fixed ? 7 : 0) && right;
    return finish(!broken && right);
}
