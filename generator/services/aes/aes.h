// The service type `aes`: encryption of payload, CTR or GCM, with keys by queue pair and direction.
#pragma once

#include "generator/services/service.h"

namespace rocegen::services {

const ServiceType& aes_type();

/// Bytes of a tag that GCM appends to a packet.
inline constexpr int kAesTagBytes = 16;

}  // namespace rocegen::services
