# SPDX-License-Identifier: GPL-3.0-or-later
# Makes stacks.otlp and stacks.json with the classes of OpenTelemetry's own package: pip install opentelemetry-proto (1.45), then
# python3 make.py in this folder.
from opentelemetry.proto.profiles.v1development import profiles_pb2 as P
from google.protobuf.json_format import MessageToJson
d=P.ProfilesData(); D=d.dictionary
S={'':0}; D.string_table.append('')
def s(x):
    if x not in S: S[x]=len(D.string_table); D.string_table.append(x)
    return S[x]
D.mapping_table.add(); D.location_table.add(); D.function_table.add(); D.attribute_table.add(); D.stack_table.add(); D.link_table.add()
def attr(k,v,unit=''):
    a=D.attribute_table.add(); a.key_strindex=s(k); 
    if isinstance(v,int): a.value.int_value=v
    else: a.value.string_value=v
    a.unit_strindex=s(unit); return len(D.attribute_table)-1
kern=attr('profile.frame.type','kernel'); nat=attr('profile.frame.type','native'); bid=attr('process.executable.build_id.gnu','ab12cd')
m=D.mapping_table.add(); m.filename_strindex=s('/usr/bin/app'); m.memory_start=0; m.memory_limit=4096; m.attribute_indices.append(bid)
def fn(n,f='',l=0):
    x=D.function_table.add(); x.name_strindex=s(n); x.filename_strindex=s(f); x.start_line=l; return len(D.function_table)-1
def loc(fns,mapping=0,addr=0,attrs=()):
    x=D.location_table.add(); x.mapping_index=mapping; x.address=addr; x.attribute_indices.extend(attrs)
    for f,l in fns: y=x.lines.add(); y.function_index=f; y.line=l
    return len(D.location_table)-1
main=loc([(fn('main','main.py',1),12)]); work=loc([(fn('inlined','w.py',3),4),(fn('work','w.py',1),9)])
kf=loc([(fn('do_syscall_64'),0)],0,0xffff,[kern]); un=loc([],1,0x1234,[nat])
def stack(l): D.stack_table.add().location_indices.extend(l); return len(D.stack_table)-1
s1=stack([work,main]); s2=stack([kf,main]); s3=stack([un,main])
rp=d.resource_profiles.add(); 
for k,v in (('service.name','shop'),('container.id','c0ffee')):
    a=rp.resource.attributes.add(); a.key=k; a.value.string_value=v
p=rp.scope_profiles.add().profiles.add(); p.sample_type.type_strindex=s('samples'); p.sample_type.unit_strindex=s('count'); p.time_unix_nano=1700000000000000000; p.duration_nano=5_000_000_000; p.period=50000000
t1=[attr('thread.name','worker'),attr('thread.id',18),attr('process.pid',17),attr('process.executable.name','app')]
t2=[attr('thread.name','io'),attr('thread.id',19),t1[2],t1[3],attr('bytes',4096,'By')]
def sample(p,st,at,vals=(),times=()):
    x=p.samples.add(); x.stack_index=st; x.attribute_indices.extend(at); x.values.extend(vals); x.timestamps_unix_nano.extend(times)
T=1700000000000000000
sample(p,s1,t1,(),[T+1,T+3,T+9]); sample(p,s2,t2,(),[T+2]); sample(p,s3,t1,[5,7],[T+4,T+5]); 
q=rp.scope_profiles[0].profiles.add(); q.sample_type.type_strindex=s('alloc_space'); q.sample_type.unit_strindex=s('bytes'); sample(q,s1,t1,[1000])
b=d.SerializeToString()
open('stacks.otlp','wb').write(b)
j=MessageToJson(d,indent=None)
open('stacks.json','w').write(j+'\n')
