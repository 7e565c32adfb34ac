/* SPDX-License-Identifier: MIT */
#include "rti/mom_objects.h"

#include "rti/fom/standard.h"
#include "rti/mom.h"
#include "rti/objects.h"

void tutti_mom_wanted(struct tutti_federation *federation, uint32_t class)
{
    if (federation->has_mom || !tutti_fom_is_within(&federation->fom->objects, class, TUTTI_MOM_MANAGER))
        return;
    federation->has_mom = true;
    tutti_objects_add_own(federation, TUTTI_MOM_FEDERATION, 0);
    for (size_t i = 0; i < federation->federates.count; i++)
        tutti_objects_add_own(federation, TUTTI_MOM_FEDERATE, tutti_federation_at(federation, i)->handle);
}

void tutti_mom_joined(struct tutti_federate *federate)
{
    if (!federate->federation->has_mom)
        return;
    tutti_objects_add_own(federate->federation, TUTTI_MOM_FEDERATE, federate->handle);
    tutti_mom_members_changed(federate->federation);
}

void tutti_mom_left(struct tutti_federation *federation, uint32_t federate)
{
    if (!federation->has_mom)
        return;
    struct tutti_object *object = tutti_mom_object(federation, federate);
    if (object)
        tutti_objects_remove_own(federation, object);
    tutti_mom_members_changed(federation);
}
