/* A function with a frame of 2 MB, which calls the program; framesmall has the same code but for
 * the size. */
#ifndef FRAME_BYTES
#define FRAME_BYTES 2000000
#endif

int sc_in_frame(int (*call)(void *), void *argument);

int sc_in_frame(int (*call)(void *), void *argument)
{
    volatile char frame[FRAME_BYTES];
    frame[0] = 1;
    frame[sizeof frame - 1] = 1;
    int result = call(argument);
    return result + frame[0] + frame[sizeof frame - 1] - 2;
}
