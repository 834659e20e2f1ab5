// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-chain-launches

// The chip decides which launches can be dependent.
// expected-error@+1 {{needs the attribute 'dnn.target' naming one of}}
module {}

// -----

module attributes {dnn.target = "sm_90"} {
  gpu.module @kernels {
    // expected-error@+1 {{needs known_block_size and known_grid_size to follow another launch}}
    gpu.func @unknown() kernel {
      gpu.return
    }
  }
}
