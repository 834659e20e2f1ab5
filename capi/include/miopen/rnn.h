/*===- rnn.h - Recurrent networks -----------------------------------------===*/
/**
 * @file
 * Vanilla networks, LSTM and GRU of half, bfloat16 and float, in any number of
 * layers, one or two directions, with and without biases, input weights and
 * dropout between layers. A network is a list of launches, one or two for each
 * time step, layer and direction.
 *
 * Sequences are given in two ways. One descriptor for each time step has a
 * batch and a vector, and perhaps more lengths that are 1; batches do not rise,
 * and time steps follow each other in memory, without padding unless
 * miopenSetRNNPaddingMode() says otherwise. A sequence tensor has the length of
 * each sequence. States have the layers times directions, the batch, and the
 * hidden size.
 */

#ifndef MIOPEN_RNN_H
#define MIOPEN_RNN_H

#include <miopen/dropout.h>
#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Layers, cells and directions of a network. */
MIOPEN_DECLARE_OBJECT(miopenRNNDescriptor);
/** A batch of sequences. */
MIOPEN_DECLARE_OBJECT(miopenSeqTensorDescriptor);

/** Kind of cells. */
typedef enum {
  miopenRNNRELU = 0, /**< One gate, with a ReLU. */
  miopenRNNTANH = 1, /**< One gate, with a hyperbolic tangent. */
  miopenLSTM = 2,    /**< Long short-term memory. */
  miopenGRU = 3      /**< Gated recurrent unit. */
} miopenRNNMode_t;

/** Whether the input is multiplied by weights, or taken as it is. */
typedef enum {
  miopenRNNlinear = 0, /**< The input is multiplied by weights. */
  miopenRNNskip = 1    /**< The input is taken as it is. */
} miopenRNNInputMode_t;

/** Algorithm of a network. Both run the same kernels. */
typedef enum {
  miopenRNNdefault = 0,    /**< One kernel for the gates of a step. */
  miopenRNNfundamental = 1 /**< The same. */
} miopenRNNAlgo_t;

/** One or two directions. */
typedef enum {
  miopenRNNunidirection = 0, /**< From the first time step to the last. */
  miopenRNNbidirection = 1   /**< In both directions. */
} miopenRNNDirectionMode_t;

/** Whether there are biases. */
typedef enum {
  miopenRNNNoBias = 0,  /**< Without biases. */
  miopenRNNwithBias = 1 /**< With biases. */
} miopenRNNBiasMode_t;

/** Algorithm of the matrix multiplications. */
typedef enum {
  miopenRNNAlgoGEMM = 0 /**< Matrix products. */
} miopenRNNGEMMalgoMode_t;

/** Whether sequences are padded to one length. */
typedef enum {
  miopenRNNIONotPadded = 0,  /**< Sequences have their own lengths. */
  miopenRNNIOWithPadding = 1 /**< Sequences are padded to the longest one. */
} miopenRNNPaddingMode_t;

/** Whether a forward pass keeps what gradients need. */
typedef enum {
  miopenRNNTraining = 0, /**< Keeps what gradients need. */
  miopenRNNInference = 1 /**< Keeps nothing. */
} miopenRNNFWDMode_t;

/** Which dimension has the largest stride, and whether sequences are padded. */
typedef enum {
  miopenRNNDataUnknownLayout = 0,     /**< Not set. */
  miopenRNNDataSeqMajorNotPadded = 1, /**< Time steps first, without padding. */
  miopenRNNDataSeqMajorPadded = 2,    /**< Time steps first, padded. */
  miopenRNNDataBatchMajorPadded = 3   /**< Sequences first, padded. */
} miopenRNNBaseLayout_t;

/**
 * Creates the descriptor of a batch of sequences.
 *
 * @param[out] tensorDesc  Owned by the caller: release it with
 *                         miopenDestroySeqTensorDescriptor().
 *
 * @retval miopenStatusSuccess      `*tensorDesc` can be set.
 * @retval miopenStatusBadParm      `tensorDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateSeqTensorDescriptor(miopenSeqTensorDescriptor_t *tensorDesc);

/**
 * Destroys the descriptor of a batch of sequences.
 *
 * @param[in] tensorDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `tensorDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `tensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroySeqTensorDescriptor(miopenSeqTensorDescriptor_t tensorDesc);

/**
 * Creates the descriptor of a network of one layer of one unit.
 *
 * @param[out] rnnDesc  Owned by the caller: release it with
 *                      miopenDestroyRNNDescriptor().
 *
 * @retval miopenStatusSuccess      `*rnnDesc` is usable.
 * @retval miopenStatusBadParm      `rnnDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateRNNDescriptor(miopenRNNDescriptor_t *rnnDesc);

/**
 * Reads a network.
 *
 * @param[in]  rnnDesc     The descriptor to read.
 * @param[out] rnnMode     Kind of cells; may be NULL.
 * @param[out] algoMode    Algorithm; may be NULL.
 * @param[out] inputMode   Whether the input is multiplied by weights; may be
 *                         NULL.
 * @param[out] dirMode     One or two directions; may be NULL.
 * @param[out] biasMode    Whether there are biases; may be NULL.
 * @param[out] hiddenSize  Units of a layer; may be NULL.
 * @param[out] layer       Number of layers; may be NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `rnnDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `rnnDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNDescriptor(
    miopenRNNDescriptor_t rnnDesc, miopenRNNMode_t *rnnMode,
    miopenRNNAlgo_t *algoMode, miopenRNNInputMode_t *inputMode,
    miopenRNNDirectionMode_t *dirMode, miopenRNNBiasMode_t *biasMode,
    int *hiddenSize, int *layer);

/**
 * Reads a network with dropout and data type.
 *
 * @param[in]  rnnDesc      The descriptor to read.
 * @param[out] hiddenSize   Units of a layer; may be NULL.
 * @param[out] layer        Number of layers; may be NULL.
 * @param[out] dropoutDesc  The dropout between layers, borrowed; may be NULL.
 * @param[out] inputMode    Whether the input is multiplied by weights; may be
 *                          NULL.
 * @param[out] dirMode      One or two directions; may be NULL.
 * @param[out] rnnMode      Kind of cells; may be NULL.
 * @param[out] biasMode     Whether there are biases; may be NULL.
 * @param[out] algoMode     Algorithm; may be NULL.
 * @param[out] dataType     Data type; may be NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `rnnDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `rnnDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNDescriptor_V2(
    miopenRNNDescriptor_t rnnDesc, int *hiddenSize, int *layer,
    miopenDropoutDescriptor_t *dropoutDesc, miopenRNNInputMode_t *inputMode,
    miopenRNNDirectionMode_t *dirMode, miopenRNNMode_t *rnnMode,
    miopenRNNBiasMode_t *biasMode, miopenRNNAlgo_t *algoMode,
    miopenDataType_t *dataType);

/**
 * Destroys a descriptor, but not its dropout.
 *
 * @param[in] rnnDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `rnnDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `rnnDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyRNNDescriptor(miopenRNNDescriptor_t rnnDesc);

/**
 * Sets a network without dropout. The padding mode stays.
 *
 * @param[in,out] rnnDesc    The descriptor to set; unchanged on failure.
 * @param[in]     hsize      Units of a layer, at least 1.
 * @param[in]     nlayers    Number of layers, at least 1.
 * @param[in]     inMode     Whether the input is multiplied by weights.
 * @param[in]     direction  One or two directions.
 * @param[in]     rnnMode    Kind of cells.
 * @param[in]     biasMode   Whether there are biases.
 * @param[in]     algo       Algorithm.
 * @param[in]     dataType   Data type.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `rnnDesc` is NULL, a size is below 1, or an
 *                              enumerator is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `rnnDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetRNNDescriptor(
    miopenRNNDescriptor_t rnnDesc, const int hsize, const int nlayers,
    miopenRNNInputMode_t inMode, miopenRNNDirectionMode_t direction,
    miopenRNNMode_t rnnMode, miopenRNNBiasMode_t biasMode, miopenRNNAlgo_t algo,
    miopenDataType_t dataType);

/**
 * Sets a network with dropout between its layers. The padding mode stays.
 *
 * @param[in,out] rnnDesc      The descriptor to set; unchanged on failure.
 * @param[in]     hsize        Units of a layer, at least 1.
 * @param[in]     nlayers      Number of layers, at least 1.
 * @param[in]     dropoutDesc  The dropout; borrowed, so it must outlive the
 *                             descriptor. May be NULL.
 * @param[in]     inMode       Whether the input is multiplied by weights.
 * @param[in]     direction    One or two directions.
 * @param[in]     rnnMode      Kind of cells.
 * @param[in]     biasMode     Whether there are biases.
 * @param[in]     algo         Algorithm.
 * @param[in]     dataType     Data type.
 *
 * @retval miopenStatusSuccess  The descriptor is set.
 * @retval miopenStatusBadParm  `rnnDesc` is NULL, a size is below 1, or an
 *                              enumerator is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `rnnDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetRNNDescriptor_V2(
    miopenRNNDescriptor_t rnnDesc, const int hsize, const int nlayers,
    miopenDropoutDescriptor_t dropoutDesc, miopenRNNInputMode_t inMode,
    miopenRNNDirectionMode_t direction, miopenRNNMode_t rnnMode,
    miopenRNNBiasMode_t biasMode, miopenRNNAlgo_t algo,
    miopenDataType_t dataType);

/**
 * Sets a batch of sequences.
 *
 * @param[in,out] seqTensorDesc     The descriptor to set; unchanged on failure.
 * @param[in]     dataType          Data type of an element.
 * @param[in]     layout            Order in memory, and whether sequences are
 *                                  padded.
 * @param[in]     maxSequenceLen    Time steps of the longest sequence, at least
 *                                  1.
 * @param[in]     batchSize         Number of sequences, at least 1.
 * @param[in]     vectorSize        Elements of a time step, at least 1.
 * @param[in]     sequenceLenArray  `batchSize` lengths, each from 0 to
 *                                  `maxSequenceLen`.
 * @param[in]     paddingMarker     One element of the data type that fills the
 *                                  padding; NULL means 0.
 *
 * @retval miopenStatusSuccess      The descriptor is set.
 * @retval miopenStatusBadParm      A pointer other than `paddingMarker` is
 *                                  NULL, an enumerator is unknown, a size is
 *                                  below 1, or a length is out of range.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `seqTensorDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetRNNDataSeqTensorDescriptor(
    miopenSeqTensorDescriptor_t seqTensorDesc, miopenDataType_t dataType,
    miopenRNNBaseLayout_t layout, int maxSequenceLen, int batchSize,
    int vectorSize, const int *sequenceLenArray, void *paddingMarker);

/**
 * Reads a batch of sequences.
 *
 * @param[in]  seqTensorDesc          The descriptor to read.
 * @param[out] dataType               Data type of an element; may be NULL.
 * @param[out] layout                 Order in memory, and whether sequences are
 *                                    padded; may be NULL.
 * @param[out] maxSequenceLen         Time steps of the longest sequence; may be
 *                                    NULL.
 * @param[out] batchSize              Number of sequences; may be NULL.
 * @param[out] vectorSize             Elements of a time step; may be NULL.
 * @param[in]  sequenceLenArrayLimit  Capacity of `sequenceLenArray`.
 * @param[out] sequenceLenArray       The first lengths, as many as there are
 *                                    and fit; may be NULL.
 * @param[out] paddingMarker          One element of the data type; may be NULL.
 *
 * @retval miopenStatusSuccess  The outputs that are wanted are set.
 * @retval miopenStatusBadParm  `seqTensorDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `seqTensorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNDataSeqTensorDescriptor(
    miopenSeqTensorDescriptor_t seqTensorDesc, miopenDataType_t *dataType,
    miopenRNNBaseLayout_t *layout, int *maxSequenceLen, int *batchSize,
    int *vectorSize, int sequenceLenArrayLimit, int *sequenceLenArray,
    void *paddingMarker);

/**
 * Gets the size of the workspace of a network.
 *
 * It is enough for every call of these sequences, and depends neither on
 * whether there are biases nor on the kernels.
 *
 * @param[in]  handle       Supplies the device and the stream.
 * @param[in]  rnnDesc      The network.
 * @param[in]  sequenceLen  Time steps.
 * @param[in]  xDesc        One descriptor of the input for each time step.
 * @param[out] numBytes     Bytes.
 *
 * @retval miopenStatusSuccess         `*numBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `sequenceLen` is below
 *                                     1, or the time steps do not fit each
 *                                     other or the network: batches rise,
 *                                     vectors differ in size, or the data type
 *                                     is another.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNWorkspaceSize(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const int sequenceLen, const miopenTensorDescriptor_t *xDesc,
    size_t *numBytes);

/**
 * Gets the size of what training keeps from the forward pass.
 *
 * Depends on whether there is dropout, but not on whether there are biases.
 *
 * @param[in]  handle       Supplies the device and the stream.
 * @param[in]  rnnDesc      The network.
 * @param[in]  sequenceLen  Time steps.
 * @param[in]  xDesc        One descriptor of the input for each time step.
 * @param[out] numBytes     Bytes.
 *
 * @retval miopenStatusSuccess         `*numBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `sequenceLen` is below
 *                                     1, or the time steps do not fit each
 *                                     other or the network: batches rise,
 *                                     vectors differ in size, or the data type
 *                                     is another.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNTrainingReserveSize(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int sequenceLen,
    const miopenTensorDescriptor_t *xDesc, size_t *numBytes);

/**
 * Gets the size of the workspace of a network and of what training keeps.
 *
 * They are enough for as many sequences of up to the maximal length.
 *
 * @param[in]  handle            Supplies the device and the stream.
 * @param[in]  rnnDesc           The network.
 * @param[in]  xDesc             Describes the input.
 * @param[in]  fwdMode           Training or inference.
 * @param[out] workSpaceSize     Bytes of the workspace.
 * @param[out] reserveSpaceSize  Bytes that training keeps.
 *
 * @retval miopenStatusSuccess         The outputs that are wanted are set; the
 *                                     second one is 0 for inference.
 * @retval miopenStatusBadParm         A pointer is NULL, the mode is unknown,
 *                                     `xDesc` was never set or has no layout,
 *                                     all sequences are empty, or the data type
 *                                     is not that of the network.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNTempSpaceSizes(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
    miopenSeqTensorDescriptor_t xDesc, miopenRNNFWDMode_t fwdMode,
    size_t *workSpaceSize, size_t *reserveSpaceSize);

/**
 * Gets the size of all weights.
 *
 * The order is MIOpen's: for each layer the matrices of the input, then those
 * of the hidden state, each for all gates of one direction after the other;
 * then for each layer the biases, in the same order. The gates are i, f, o, g
 * in an LSTM, and z (update), r (reset), n (new) in a GRU.
 *
 * @param[in]  handle    Supplies the device and the stream.
 * @param[in]  rnnDesc   The network.
 * @param[in]  xDesc     Describes the input.
 * @param[out] numBytes  Bytes.
 * @param[in]  dtype     Data type of the weights.
 *
 * @retval miopenStatusSuccess         `*numBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, or `xDesc` or `dtype`
 *                                     does not fit the network.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNParamsSize(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
    miopenTensorDescriptor_t xDesc, size_t *numBytes, miopenDataType_t dtype);

/**
 * Sets the descriptor of all weights.
 *
 * It has two dimensions, the second of which counts the gates of all
 * directions.
 *
 * @param[in]     handle   Supplies the device and the stream.
 * @param[in]     rnnDesc  The network.
 * @param[in]     xDesc    Describes the input.
 * @param[in,out] wDesc    The descriptor to set.
 * @param[in]     dtype    Data type of the weights.
 *
 * @retval miopenStatusSuccess         `wDesc` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, or `xDesc` or `dtype`
 *                                     does not fit the network.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `wDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNParamsDescriptor(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
    miopenTensorDescriptor_t xDesc, miopenTensorDescriptor_t wDesc,
    miopenDataType_t dtype);

/**
 * Gets the size of the input.
 *
 * With padding, all time steps are as large as the first one.
 *
 * @param[in]  handle    Supplies the device and the stream.
 * @param[in]  rnnDesc   The network.
 * @param[in]  seqLen    Time steps.
 * @param[in]  xDesc     One descriptor of the input for each time step.
 * @param[out] numBytes  Bytes.
 *
 * @retval miopenStatusSuccess         `*numBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `seqLen` is below 1,
 *                                     or the time steps do not fit each other
 *                                     or the network: batches rise, vectors
 *                                     differ in size, or the data type is
 *                                     another.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNInputTensorSize(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int seqLen,
    miopenTensorDescriptor_t *xDesc, size_t *numBytes);

/**
 * Gets the size of the hidden state.
 *
 * It is that of the largest batch, for all layers and directions.
 *
 * @param[in]  handle    Supplies the device and the stream.
 * @param[in]  rnnDesc   The network.
 * @param[in]  seqLen    Time steps.
 * @param[in]  xDesc     One descriptor of the input for each time step.
 * @param[out] numBytes  Bytes.
 *
 * @retval miopenStatusSuccess         `*numBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `seqLen` is below 1,
 *                                     or the time steps do not fit each other
 *                                     or the network: batches rise, vectors
 *                                     differ in size, or the data type is
 *                                     another.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNHiddenTensorSize(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int seqLen,
    miopenTensorDescriptor_t *xDesc, size_t *numBytes);

/**
 * Gets the size of one matrix.
 *
 * It is 0 if the first layer takes its input without weights.
 *
 * @param[in]  handle    Supplies the device and the stream.
 * @param[in]  rnnDesc   The network.
 * @param[in]  layer     Number of the layer, counted from 0.
 * @param[in]  xDesc     Describes the input.
 * @param[in]  paramID   Number of the matrix in its layer.
 * @param[out] numBytes  Bytes.
 *
 * @retval miopenStatusSuccess         `*numBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such layer
 *                                     or parameter, or `xDesc` does not fit the
 *                                     network.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNLayerParamSize(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int layer,
    miopenTensorDescriptor_t xDesc, const int paramID, size_t *numBytes);

/**
 * Gets the size of one bias.
 *
 * It is the same for a network without biases.
 *
 * @param[in]  handle    Supplies the device and the stream.
 * @param[in]  rnnDesc   The network.
 * @param[in]  layer     Number of the layer, counted from 0.
 * @param[in]  biasID    Number of the bias in its layer.
 * @param[out] numBytes  Bytes.
 *
 * @retval miopenStatusSuccess         `*numBytes` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, or there is no such
 *                                     layer or bias.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or
 *   destroys one of the descriptors.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetRNNLayerBiasSize(miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
                          const int layer, const int biasID, size_t *numBytes);

/**
 * Copies a matrix out of the weights.
 *
 * @param[in]     handle      Supplies the device and the stream.
 * @param[in]     rnnDesc     The network.
 * @param[in]     layer       Number of the layer, counted from 0.
 * @param[in]     xDesc       Describes the input.
 * @param[in]     wDesc       Describes all weights.
 * @param[in]     w           All weights; device memory.
 * @param[in]     paramID     Number of the matrix in its layer.
 * @param[in,out] paramDesc   Describes the matrix.
 * @param[out]    layerParam  The matrix; device memory; NULL to set only
 *                            `paramDesc`.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such layer
 *                                     or parameter, or `xDesc` does not fit the
 *                                     network, or the first layer has no
 *                                     matrices of the input.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNLayerParam(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int layer,
    miopenTensorDescriptor_t xDesc, miopenTensorDescriptor_t wDesc,
    const void *w, const int paramID, miopenTensorDescriptor_t paramDesc,
    void *layerParam);

/**
 * Copies a bias out of the weights.
 *
 * Does nothing if the network has no biases.
 *
 * @param[in]     handle     Supplies the device and the stream.
 * @param[in]     rnnDesc    The network.
 * @param[in]     layer      Number of the layer, counted from 0.
 * @param[in]     xDesc      Describes the input.
 * @param[in]     wDesc      Describes all weights.
 * @param[in]     w          All weights; device memory.
 * @param[in]     biasID     Number of the bias in its layer.
 * @param[in,out] biasDesc   Describes the bias.
 * @param[out]    layerBias  The bias; device memory; NULL to set only
 *                           `biasDesc`.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such layer
 *                                     or parameter, or `xDesc` does not fit the
 *                                     network.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNLayerBias(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int layer,
    miopenTensorDescriptor_t xDesc, miopenTensorDescriptor_t wDesc,
    const void *w, const int biasID, miopenTensorDescriptor_t biasDesc,
    void *layerBias);

/**
 * Gets the offset at which a matrix begins in the weights.
 *
 * The matrices of the gates of one direction are contiguous.
 *
 * @param[in]     rnnDesc           The network.
 * @param[in]     layer             Number of the layer, counted from 0.
 * @param[in]     xDesc             Describes the input.
 * @param[in]     paramID           Number of the matrix in its layer.
 * @param[in,out] paramDesc         Describes the matrix.
 * @param[out]    layerParamOffset  Offset in elements.
 *
 * @retval miopenStatusSuccess         `paramDesc` and `*layerParamOffset` are
 *                                     set.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such layer
 *                                     or parameter, or `xDesc` does not fit the
 *                                     network, or the first layer has no
 *                                     matrices of the input.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `paramDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNLayerParamOffset(
    miopenRNNDescriptor_t rnnDesc, const int layer,
    miopenTensorDescriptor_t xDesc, const int paramID,
    miopenTensorDescriptor_t paramDesc, size_t *layerParamOffset);

/**
 * Gets the offset at which a bias begins in the weights.
 *
 * Does nothing if the network has no biases.
 *
 * @param[in]     rnnDesc          The network.
 * @param[in]     layer            Number of the layer, counted from 0.
 * @param[in]     xDesc            Describes the input.
 * @param[in]     biasID           Number of the bias in its layer.
 * @param[in,out] biasDesc         Describes the bias.
 * @param[out]    layerBiasOffset  Offset in elements.
 *
 * @retval miopenStatusSuccess         `biasDesc` and `*layerBiasOffset` are
 *                                     set, if there are biases.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such layer
 *                                     or parameter, or `xDesc` does not fit the
 *                                     network.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `biasDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNLayerBiasOffset(
    miopenRNNDescriptor_t rnnDesc, const int layer,
    miopenTensorDescriptor_t xDesc, const int biasID,
    miopenTensorDescriptor_t biasDesc, size_t *layerBiasOffset);

/**
 * Copies a matrix into the weights.
 *
 * @param[in]     handle      Supplies the device and the stream.
 * @param[in]     rnnDesc     The network.
 * @param[in]     layer       Number of the layer, counted from 0.
 * @param[in]     xDesc       Describes the input.
 * @param[in]     wDesc       Describes all weights.
 * @param[in,out] w           All weights; device memory.
 * @param[in]     paramID     Number of the matrix in its layer.
 * @param[in]     paramDesc   Describes the matrix.
 * @param[in]     layerParam  The matrix; device memory.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such layer
 *                                     or parameter, or `xDesc` does not fit the
 *                                     network, `paramDesc` is not that of the
 *                                     matrix, or the first layer has no
 *                                     matrices of the input.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetRNNLayerParam(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int layer,
    miopenTensorDescriptor_t xDesc, miopenTensorDescriptor_t wDesc, void *w,
    const int paramID, miopenTensorDescriptor_t paramDesc,
    const void *layerParam);

/**
 * Copies a bias into the weights.
 *
 * Does nothing if the network has no biases.
 *
 * @param[in]     handle     Supplies the device and the stream.
 * @param[in]     rnnDesc    The network.
 * @param[in]     layer      Number of the layer, counted from 0.
 * @param[in]     xDesc      Describes the input.
 * @param[in]     wDesc      Describes all weights.
 * @param[in,out] w          All weights; device memory.
 * @param[in]     biasID     Number of the bias in its layer.
 * @param[in]     biasDesc   Describes the bias.
 * @param[in]     layerBias  The bias; device memory.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL, there is no such layer
 *                                     or parameter, or `xDesc` does not fit the
 *                                     network, or `biasDesc` is not that of the
 *                                     bias.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetRNNLayerBias(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int layer,
    miopenTensorDescriptor_t xDesc, miopenTensorDescriptor_t wDesc, void *w,
    const int biasID, miopenTensorDescriptor_t biasDesc, const void *layerBias);

/**
 * Says whether sequences are padded.
 *
 * @param[in,out] rnnDesc      The descriptor to change.
 * @param[in]     paddingMode  Whether they are.
 *
 * @retval miopenStatusSuccess  The mode is set.
 * @retval miopenStatusBadParm  `rnnDesc` is NULL, or the mode is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `rnnDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetRNNPaddingMode(
    miopenRNNDescriptor_t rnnDesc, miopenRNNPaddingMode_t paddingMode);

/**
 * Reads whether sequences are padded.
 *
 * @param[in]  rnnDesc      The descriptor to read.
 * @param[out] paddingMode  miopenRNNIONotPadded unless another was set.
 *
 * @retval miopenStatusSuccess  `*paddingMode` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `rnnDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetRNNPaddingMode(
    miopenRNNDescriptor_t rnnDesc, miopenRNNPaddingMode_t *paddingMode);

/**
 * Runs a network on a batch of sequences.
 *
 * Padding is neither read nor written. The final states of an empty sequence
 * are its initial ones. States that are NULL are 0.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     rnnDesc             The network.
 * @param[in]     fwdMode             Training or inference.
 * @param[in]     xDesc               Describes the input.
 * @param[in]     x                   Input; device memory.
 * @param[in]     hDesc               Describes the hidden state; NULL if none
 *                                    is given.
 * @param[in]     hx                  Initial hidden state; device memory; may
 *                                    be NULL.
 * @param[out]    hy                  Final hidden state; device memory; may be
 *                                    NULL.
 * @param[in]     cDesc               Describes the cell state; NULL if none is
 *                                    given.
 * @param[in]     cx                  Initial cell state; device memory; may be
 *                                    NULL.
 * @param[out]    cy                  Final cell state; device memory; may be
 *                                    NULL.
 * @param[in]     yDesc               Describes the output.
 * @param[out]    y                   Output; device memory.
 * @param[in]     w                   All weights; device memory.
 * @param[in]     weightSpaceSize     Bytes of the weights.
 * @param[in,out] workSpace           Device memory.
 * @param[in]     workSpaceNumBytes   Size of `workSpace` in bytes.
 * @param[in,out] reserveSpace        Device memory that training keeps for the
 *                                    gradients; not used in inference.
 * @param[in]     reserveSpaceNumBytes  Size of `reserveSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     tensors do not fit each other or the
 *                                     network, or a buffer is too small.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenRNNForward(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    miopenRNNFWDMode_t fwdMode, const miopenSeqTensorDescriptor_t xDesc,
    const void *x, const miopenTensorDescriptor_t hDesc, const void *hx,
    void *hy, const miopenTensorDescriptor_t cDesc, const void *cx, void *cy,
    const miopenSeqTensorDescriptor_t yDesc, void *y, const void *w,
    size_t weightSpaceSize, void *workSpace, size_t workSpaceNumBytes,
    void *reserveSpace, size_t reserveSpaceNumBytes);

/**
 * Computes the gradients of the input and of the initial states for a batch of
 * sequences.
 *
 * Padding is neither read nor written. Gradients of states that are NULL are 0.
 * The workspace must be passed on to miopenRNNBackwardWeightsSeqTensor().
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     rnnDesc             The network.
 * @param[in]     yDesc               Describes the output.
 * @param[in]     y                   Not read; may be NULL.
 * @param[in]     dy                  Gradient of the output; device memory.
 * @param[in]     hDesc               Describes the hidden state; NULL if none
 *                                    is given.
 * @param[in]     hx                  Initial hidden state; device memory; may
 *                                    be NULL.
 * @param[in]     dhy                 Gradient of the final hidden state; device
 *                                    memory; may be NULL.
 * @param[out]    dhx                 Gradient of the initial hidden state;
 *                                    device memory; may be NULL.
 * @param[in]     cDesc               Describes the cell state; NULL if none is
 *                                    given.
 * @param[in]     cx                  Initial cell state; device memory; may be
 *                                    NULL.
 * @param[in]     dcy                 Gradient of the final cell state; device
 *                                    memory; may be NULL.
 * @param[out]    dcx                 Gradient of the initial cell state; device
 *                                    memory; may be NULL.
 * @param[in]     xDesc               Describes the input.
 * @param[out]    dx                  Gradient of the input; device memory.
 * @param[in]     w                   All weights; device memory.
 * @param[in]     weightSpaceSize     Bytes of the weights.
 * @param[in,out] workSpace           Device memory.
 * @param[in]     workSpaceNumBytes   Size of `workSpace` in bytes.
 * @param[in,out] reserveSpace        Device memory that training keeps for the
 *                                    gradients.
 * @param[in]     reserveSpaceNumBytes  Size of `reserveSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     tensors do not fit each other or the
 *                                     network, or a buffer is too small.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenRNNBackwardSeqData(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const miopenSeqTensorDescriptor_t yDesc, const void *y, const void *dy,
    const miopenTensorDescriptor_t hDesc, const void *hx, const void *dhy,
    void *dhx, const miopenTensorDescriptor_t cDesc, const void *cx,
    const void *dcy, void *dcx, const miopenSeqTensorDescriptor_t xDesc,
    void *dx, const void *w, size_t weightSpaceSize, void *workSpace,
    size_t workSpaceNumBytes, void *reserveSpace, size_t reserveSpaceNumBytes);

/**
 * Computes the gradients of the weights for a batch of sequences.
 *
 * The workspace must be as miopenRNNBackwardSeqData() has left it.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     rnnDesc             The network.
 * @param[in]     xDesc               Describes the input.
 * @param[in]     x                   Input; device memory.
 * @param[in]     hDesc               Describes the hidden state; NULL if none
 *                                    is given.
 * @param[in]     hx                  Initial hidden state; device memory; may
 *                                    be NULL.
 * @param[in]     yDesc               Describes the output.
 * @param[in]     y                   Not read; may be NULL.
 * @param[in,out] dw                  Gradient of the weights, added to; device
 *                                    memory.
 * @param[in]     weightSpaceSize     Bytes of the weights.
 * @param[in,out] workSpace           Device memory.
 * @param[in]     workSpaceNumBytes   Size of `workSpace` in bytes.
 * @param[in]     reserveSpace        Device memory that training has kept.
 * @param[in]     reserveSpaceNumBytes  Size of `reserveSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     tensors do not fit each other or the
 *                                     network, or a buffer is too small.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenRNNBackwardWeightsSeqTensor(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const miopenSeqTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t hDesc, const void *hx,
    const miopenSeqTensorDescriptor_t yDesc, const void *y, void *dw,
    size_t weightSpaceSize, void *workSpace, size_t workSpaceNumBytes,
    const void *reserveSpace, size_t reserveSpaceNumBytes);

/**
 * Runs a network and keeps what its gradients need.
 *
 * States that are NULL are 0. With dropout, elements of the layers below the
 * last one are dropped, and the states of the generator advance.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     rnnDesc             The network.
 * @param[in]     sequenceLen         Time steps.
 * @param[in]     xDesc               One descriptor of the input for each time
 *                                    step.
 * @param[in]     x                   Input; device memory.
 * @param[in]     hxDesc              Describes the initial hidden state.
 * @param[in]     hx                  Initial hidden state; device memory; may
 *                                    be NULL.
 * @param[in]     cxDesc              Describes the initial cell state.
 * @param[in]     cx                  Initial cell state; device memory; may be
 *                                    NULL.
 * @param[in]     wDesc               Describes all weights.
 * @param[in]     w                   All weights; device memory.
 * @param[in]     yDesc               One descriptor of the output for each time
 *                                    step.
 * @param[out]    y                   Output; device memory.
 * @param[in]     hyDesc              Describes the final hidden state.
 * @param[out]    hy                  Final hidden state; device memory; may be
 *                                    NULL.
 * @param[in]     cyDesc              Describes the final cell state.
 * @param[out]    cy                  Final cell state; device memory; may be
 *                                    NULL.
 * @param[in,out] workSpace           Device memory.
 * @param[in]     workSpaceNumBytes   Size of `workSpace` in bytes.
 * @param[in,out] reserveSpace        Device memory that training keeps for the
 *                                    gradients.
 * @param[in]     reserveSpaceNumBytes  Size of `reserveSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     tensors do not fit each other or the
 *                                     network, or a buffer is too small.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenRNNForwardTraining(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const int sequenceLen, const miopenTensorDescriptor_t *xDesc, const void *x,
    const miopenTensorDescriptor_t hxDesc, const void *hx,
    const miopenTensorDescriptor_t cxDesc, const void *cx,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t *yDesc, void *y,
    const miopenTensorDescriptor_t hyDesc, void *hy,
    const miopenTensorDescriptor_t cyDesc, void *cy, void *workSpace,
    size_t workSpaceNumBytes, void *reserveSpace, size_t reserveSpaceNumBytes);

/**
 * Computes the gradients of the input and of the initial states.
 *
 * Gradients of states that are NULL are 0. Whether the network has biases does
 * not matter. The workspace must be passed on to miopenRNNBackwardWeights().
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     rnnDesc             The network.
 * @param[in]     sequenceLen         Time steps.
 * @param[in]     yDesc               One descriptor of the output for each time
 *                                    step.
 * @param[in]     y                   Not read; may be NULL.
 * @param[in]     dyDesc              One descriptor of the gradient of the
 *                                    output for each time step.
 * @param[in]     dy                  Gradient of the output; device memory.
 * @param[in]     dhyDesc             Describes the gradient of the final hidden
 *                                    state.
 * @param[in]     dhy                 Gradient of the final hidden state; device
 *                                    memory; may be NULL.
 * @param[in]     dcyDesc             Describes the gradient of the final cell
 *                                    state.
 * @param[in]     dcy                 Gradient of the final cell state; device
 *                                    memory; may be NULL.
 * @param[in]     wDesc               Describes all weights.
 * @param[in]     w                   All weights; device memory.
 * @param[in]     hxDesc              Describes the initial hidden state.
 * @param[in]     hx                  Initial hidden state; device memory; may
 *                                    be NULL.
 * @param[in]     cxDesc              Describes the initial cell state.
 * @param[in]     cx                  Initial cell state; device memory; may be
 *                                    NULL.
 * @param[in]     dxDesc              One descriptor of the gradient of the
 *                                    input for each time step.
 * @param[out]    dx                  Gradient of the input; device memory.
 * @param[in]     dhxDesc             Describes the gradient of the initial
 *                                    hidden state.
 * @param[out]    dhx                 Gradient of the initial hidden state;
 *                                    device memory; may be NULL.
 * @param[in]     dcxDesc             Describes the gradient of the initial cell
 *                                    state.
 * @param[out]    dcx                 Gradient of the initial cell state; device
 *                                    memory; may be NULL.
 * @param[in,out] workSpace           Device memory.
 * @param[in]     workSpaceNumBytes   Size of `workSpace` in bytes.
 * @param[in,out] reserveSpace        Device memory that training keeps for the
 *                                    gradients.
 * @param[in]     reserveSpaceNumBytes  Size of `reserveSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     tensors do not fit each other or the
 *                                     network, or a buffer is too small.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenRNNBackwardData(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const int sequenceLen, const miopenTensorDescriptor_t *yDesc, const void *y,
    const miopenTensorDescriptor_t *dyDesc, const void *dy,
    const miopenTensorDescriptor_t dhyDesc, const void *dhy,
    const miopenTensorDescriptor_t dcyDesc, const void *dcy,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t hxDesc, const void *hx,
    const miopenTensorDescriptor_t cxDesc, const void *cx,
    const miopenTensorDescriptor_t *dxDesc, void *dx,
    const miopenTensorDescriptor_t dhxDesc, void *dhx,
    const miopenTensorDescriptor_t dcxDesc, void *dcx, void *workSpace,
    size_t workSpaceNumBytes, void *reserveSpace, size_t reserveSpaceNumBytes);

/**
 * Computes the gradients of the weights.
 *
 * The workspace must be as miopenRNNBackwardData() has left it.
 *
 * @param[in]     handle              Supplies the device and the stream.
 * @param[in]     rnnDesc             The network.
 * @param[in]     sequenceLen         Time steps.
 * @param[in]     xDesc               One descriptor of the input for each time
 *                                    step.
 * @param[in]     x                   Input; device memory.
 * @param[in]     hxDesc              Describes the initial hidden state.
 * @param[in]     hx                  Initial hidden state; device memory; may
 *                                    be NULL.
 * @param[in]     yDesc               One descriptor of the output for each time
 *                                    step.
 * @param[in]     y                   Not read; may be NULL.
 * @param[in]     dwDesc              Describes the gradient of the weights.
 * @param[in,out] dw                  Gradient of the weights, added to; device
 *                                    memory.
 * @param[in,out] workSpace           Device memory.
 * @param[in]     workSpaceNumBytes   Size of `workSpace` in bytes.
 * @param[in]     reserveSpace        Device memory that training has kept.
 * @param[in]     reserveSpaceNumBytes  Size of `reserveSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     tensors do not fit each other or the
 *                                     network, or a buffer is too small.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenRNNBackwardWeights(
    miopenHandle_t handle, const miopenRNNDescriptor_t rnnDesc,
    const int sequenceLen, const miopenTensorDescriptor_t *xDesc, const void *x,
    const miopenTensorDescriptor_t hxDesc, const void *hx,
    const miopenTensorDescriptor_t *yDesc, const void *y,
    const miopenTensorDescriptor_t dwDesc, void *dw, void *workSpace,
    size_t workSpaceNumBytes, const void *reserveSpace,
    size_t reserveSpaceNumBytes);

/**
 * Runs a network without keeping anything for gradients.
 *
 * States that are NULL are 0. Nothing is dropped.
 *
 * @param[in]     handle             Supplies the device and the stream.
 * @param[in]     rnnDesc            The network.
 * @param[in]     sequenceLen        Time steps.
 * @param[in]     xDesc              One descriptor of the input for each time
 *                                   step.
 * @param[in]     x                  Input; device memory.
 * @param[in]     hxDesc             Describes the initial hidden state.
 * @param[in]     hx                 Initial hidden state; device memory; may be
 *                                   NULL.
 * @param[in]     cxDesc             Describes the initial cell state.
 * @param[in]     cx                 Initial cell state; device memory; may be
 *                                   NULL.
 * @param[in]     wDesc              Describes all weights.
 * @param[in]     w                  All weights; device memory.
 * @param[in]     yDesc              One descriptor of the output for each time
 *                                   step.
 * @param[out]    y                  Output; device memory.
 * @param[in]     hyDesc             Describes the final hidden state.
 * @param[out]    hy                 Final hidden state; device memory; may be
 *                                   NULL.
 * @param[in]     cyDesc             Describes the final cell state.
 * @param[out]    cy                 Final cell state; device memory; may be
 *                                   NULL.
 * @param[in,out] workSpace          Device memory.
 * @param[in]     workSpaceNumBytes  Size of `workSpace` in bytes.
 *
 * @retval miopenStatusSuccess         The kernels are on the stream.
 * @retval miopenStatusBadParm         A pointer that may not be NULL is, the
 *                                     tensors do not fit each other or the
 *                                     network, or a buffer is too small.
 * @retval miopenStatusNotImplemented  The data type is not half, bfloat16 or
 *                                     float, or the network is too large for
 *                                     sizes in 64 bits, or tensors have gaps.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenRNNForwardInference(
    miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc, const int sequenceLen,
    const miopenTensorDescriptor_t *xDesc, const void *x,
    const miopenTensorDescriptor_t hxDesc, const void *hx,
    const miopenTensorDescriptor_t cxDesc, const void *cx,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t *yDesc, void *y,
    const miopenTensorDescriptor_t hyDesc, void *hy,
    const miopenTensorDescriptor_t cyDesc, void *cy, void *workSpace,
    size_t workSpaceNumBytes);

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_RNN_H */
