/*===- every_function.c - What is exported is declared, and links ----------===*\
|*
|* A client that mentions every name of the export list, compiled as C11 and as
|* C++: what is exported must be declared by the headers, and what is declared
|* must link.
|*
\*===----------------------------------------------------------------------===*/

#define MIOPEN_BETA_API 1
#include <miopen/miopen.h>
#include <tessera/problem.h>
#include <tessera/tessera.h>

#include <stdio.h>

typedef void (*Function)(void);

#define FUNCTION(name) (Function) name,
static const Function kFunctions[] = {
#include "every_function.inc"
};

int main(void) {
  size_t count = sizeof kFunctions / sizeof kFunctions[0];
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < i; ++j)
      if (kFunctions[i] == kFunctions[j])
        return 1;
  printf("%d functions\n", (int)count);
  return count > 256 ? 0 : 2;
}
