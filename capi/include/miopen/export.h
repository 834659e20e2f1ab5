/*===- export.h - How a public symbol is marked ---------------------------===*/
/**
 * @file
 * The library is compiled with hidden symbols. Only functions that carry
 * MIOPEN_EXPORT and are listed in capi/lib/exports.map can be linked against.
 */

#ifndef MIOPEN_EXPORT_H
#define MIOPEN_EXPORT_H

/** Marks a function that clients can link. */
#define MIOPEN_EXPORT __attribute__((visibility("default")))
/** Marks a function that clients cannot link. */
#define MIOPEN_NO_EXPORT __attribute__((visibility("hidden")))
/** Makes the compiler warn where a function is used. */
#define MIOPEN_DEPRECATED __attribute__((__deprecated__))
/** Both MIOPEN_EXPORT and MIOPEN_DEPRECATED. */
#define MIOPEN_DEPRECATED_EXPORT MIOPEN_EXPORT MIOPEN_DEPRECATED

/** Declares the opaque type `name` and its handle `name_t`. */
#define MIOPEN_DECLARE_OBJECT(name)                                            \
  struct name;                                                                 \
  typedef struct name *name##_t

/** A default argument in C++; nothing in C, which has none. */
#ifdef __cplusplus
#define MIOPEN_DEFAULT(value) = value
#else
#define MIOPEN_DEFAULT(value)
#endif

#endif /* MIOPEN_EXPORT_H */
