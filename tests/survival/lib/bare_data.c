// cflags: -nostartfiles
//
// A plugin with a buffer of its own, and of which no code runs when it is closed.
unsigned char sc_static_data[1 << 20];
