/*===- client.c - A program that includes and calls the library ----------===*\
|*
|* It needs no device: it prints the release that the library answers as.
|*
\*===----------------------------------------------------------------------===*/

#include <miopen/miopen.h>
#include <miopen/version.h>

#include <stdio.h>

int main(void) {
  size_t major = 0, minor = 0;
  if (miopenGetVersion(&major, &minor, NULL) != miopenStatusSuccess)
    return 1;
  printf("MIOpen %d.%d\n", (int)major, (int)minor);
  return major == MIOPEN_VERSION_MAJOR ? 0 : 2;
}
