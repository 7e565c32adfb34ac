/* SPDX-License-Identifier: MIT */
#include "hla/rti/mom_objects.h"

#include "hla/fom/fom_module.h"
#include "hla/rti/mom.h"
#include "hla/rti/objects.h"

void tt_mom_register_objects(struct tt_federation *federation, uint32_t class)
{
    if (federation->has_mom || !tt_fom_is_within(&federation->fom->objects, class, TUTTI_MOM_MANAGER))
        return;
    federation->has_mom = true;
    tt_objects_add_own(federation, TUTTI_MOM_FEDERATION, 0);
    for (size_t i = 0; i < federation->federates.count; i++)
        tt_objects_add_own(federation, TUTTI_MOM_FEDERATE, tt_federation_at(federation, i)->handle);
}

void tt_mom_add_federate(struct tt_federate *federate)
{
    if (!federate->federation->has_mom)
        return;
    tt_objects_add_own(federate->federation, TUTTI_MOM_FEDERATE, federate->handle);
    tt_mom_update_members(federate->federation);
}

void tt_mom_remove_federate(struct tt_federation *federation, uint32_t federate)
{
    if (!federation->has_mom)
        return;
    struct tt_object *object = tt_mom_find_object(federation, federate);
    if (object)
        tt_objects_remove_own(federation, object);
    tt_mom_update_members(federation);
}
