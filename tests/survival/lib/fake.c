/* A library with "cu" names of its own, as cuDNN and cuBLAS have. */
int cuFakeThing(int value);

int cuFakeThing(int value)
{
    return value + 1000;
}
